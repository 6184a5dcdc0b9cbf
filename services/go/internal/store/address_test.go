package store

import (
	"os"
	"strings"
	"testing"
)

func TestADatabaseIsNamedWithoutItsPassword(t *testing.T) {
	for dsn, wanted := range map[string]string{
		"postgresql://me:one%40two@db:5433/x":                         "the database x at db:5433",
		"host=/run/here dbname=x port=5433 hostaddr='' options=''":    "the database x at /run/here",
		"host=a,b port=1,2 dbname=x":                                  "the database x at a,b:1,2",
		"postgresql://me@db/x?application_name=mine":                  "the database x at db:5432",
		"host=db user=me dbname=x options='-c synchronous_commit=on'": "the database x at db:5432",
	} {
		config, where, err := readAddress(dsn)
		if err != nil || where != wanted {
			t.Errorf("%s: %q, %v", dsn, where, err)
			continue
		}
		for _, name := range []string{"hostaddr"} {
			if _, has := config.ConnConfig.RuntimeParams[name]; has {
				t.Errorf("%s: the server is told %s", dsn, name)
			}
		}
	}
}

func TestAnAddressThatCannotBeReadIsNotTold(t *testing.T) {
	for _, dsn := range []string{
		"", "not a dsn, but a secret", "postgresql://me:secret/more@127.0.0.1:9/x", "host=127.0.0.1 port=secret dbname=x",
		"host=127.0.0.1 dbname=x pool_max_conns=3 password=secret", "host=a@secret dbname=x", "host=a dbname=b@secret",
		"host=a hostaddr=10.0.0.1 password=secret", "host=a password=my secret=1",
	} {
		config, _, err := readAddress(dsn)
		if err == nil {
			t.Errorf("%s leads to %s", dsn, config.ConnConfig.Host)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}

func TestTheEnvironmentIsNotRead(t *testing.T) {
	for name, value := range map[string]string{
		"PGHOST": "elsewhere", "PGPORT": "9", "PGUSER": "other", "PGPASSWORD": "secret", "PGSERVICE": "theirs",
		"PGOPTIONS": "-c fsync=off", "PGDATABASE": "theirs", "PGSSLMODE": "disable",
	} {
		t.Setenv(name, value)
	}
	config, where, err := readAddress("host=here dbname=mine user=me")
	if err != nil || where != "the database mine at here:5432" {
		t.Fatalf("%q, %v", where, err)
	}
	found := config.ConnConfig
	if found.User != "me" || found.Password != "" || len(found.RuntimeParams) != 0 || found.TLSConfig == nil {
		t.Errorf("%v", found)
	}
	if _, has := os.LookupEnv("PGHOST"); has {
		t.Error("PGHOST stays")
	}
}
