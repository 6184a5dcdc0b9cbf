package store

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const connectTimeout = 5 * time.Second

var (
	// told are the settings of an address that pgx hands on to the server, and that a connection of orch's may have.
	told = []string{"application_name", "client_encoding", "options"}
	// others are those that libpq knows and pgx does not.
	others = []string{
		"fallback_application_name", "gssdelegation", "gssencmode", "gsslib", "hostaddr", "keepalives", "keepalives_count",
		"keepalives_idle", "keepalives_interval", "krbsrvname", "load_balance_hosts", "replication", "require_auth",
		"requirepeer", "requiressl", "ssl_max_protocol_version", "sslcertmode", "sslcompression", "sslcrl", "sslcrldir",
		"tcp_user_timeout",
	}
)

var (
	errNoAddress = errors.New("the database's address is no DSN of PostgreSQL, such as postgresql://user@host:5432/name")
	errCutInTwo  = errors.New(
		"the database's address cannot be read: a password writes @ as %40, / as %2F, : as %3A and % as %25")
)

// forgetEnvironment has pgx read nothing of this process's environment: a PGHOST, a PGSERVICE or a PGOPTIONS would lead to
// another server than the one that an address names, or change its settings.
func forgetEnvironment() {
	for _, each := range os.Environ() {
		if name, _, _ := strings.Cut(each, "="); strings.HasPrefix(name, "PG") {
			_ = os.Unsetenv(name)
		}
	}
}

// readAddress reads a DSN, and says which database it names in words that hold no password.
func readAddress(dsn string) (*pgxpool.Config, string, error) {
	forgetEnvironment()
	if strings.TrimSpace(dsn) == "" {
		return nil, "", errNoAddress
	}
	single, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, "", errNoAddress // what pgx says of it may have a part of the password
	}
	where, err := named(single)
	if err != nil {
		return nil, "", err
	}
	for name, value := range single.RuntimeParams {
		if slices.Contains(told, name) || (name == "hostaddr" && value == "") {
			continue
		}
		if slices.Contains(others, name) {
			return nil, "", fmt.Errorf("%s: pgx takes no %s in an address", where, name)
		}
		return nil, "", errNoAddress
	}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, "", errNoAddress
	}
	settings := config.ConnConfig.RuntimeParams
	delete(settings, "hostaddr")
	if settings["options"] == "" {
		delete(settings, "options")
	}
	config.ConnConfig.ConnectTimeout = connectTimeout
	return config, where, nil
}

// named says a database in words; an error where a password may be cut in two.
func named(config *pgx.ConnConfig) (string, error) {
	hosts, ports := []string{config.Host}, []string{strconv.Itoa(int(config.Port))}
	for _, other := range config.Fallbacks {
		if port := strconv.Itoa(int(other.Port)); !slices.Contains(hosts, other.Host) || !slices.Contains(ports, port) {
			hosts, ports = append(hosts, other.Host), append(ports, port)
		}
	}
	for _, part := range append([]string{config.Database}, hosts...) {
		if len(part) > 1 && strings.Contains(part[1:], "@") {
			return "", errCutInTwo
		}
	}
	at := strings.Join(hosts, ",")
	if !strings.HasPrefix(at, "/") {
		at += ":" + strings.Join(ports, ",")
	}
	database := config.Database
	if database == "" {
		database = config.User
	}
	return fmt.Sprintf("the database %s at %s", database, at), nil
}

// said is an error in one line.
func said(err error) string {
	const most = 300
	words := []rune(strings.Join(strings.Fields(err.Error()), " "))
	if len(words) > most {
		words = append(words[:most-3], []rune("...")...)
	}
	return string(words)
}
