package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// expected is what orch's schema in PostgreSQL consists of, by the server's own catalogue, sorted.
var expected = slices.Sorted(slices.Values([]string{
	"table accounts",
	"table transactions",
	"index accounts_pkey",
	"index transactions_pkey",
	"index transactions_of_payer",
	"sequence transactions_number_seq",
	"column accounts.account integer not null",
	"column accounts.owner text not null",
	"column accounts.balance integer not null",
	"column accounts.seeded integer not null",
	"column transactions.number integer not null identity d",
	"column transactions.payer integer not null",
	"column transactions.payee integer not null",
	"column transactions.amount integer not null",
	"accounts: PRIMARY KEY (account)",
	"accounts: CHECK ((balance >= 0))",
	"transactions: PRIMARY KEY (number)",
	"transactions: FOREIGN KEY (payer) REFERENCES orch_store.accounts(account)",
	"transactions: FOREIGN KEY (payee) REFERENCES orch_store.accounts(account)",
	"transactions: CHECK ((payee <> payer))",
	"transactions: CHECK ((amount > 0))",
	"CREATE UNIQUE INDEX accounts_pkey ON orch_store.accounts USING btree (account)",
	"CREATE UNIQUE INDEX transactions_pkey ON orch_store.transactions USING btree (number)",
	"CREATE INDEX transactions_of_payer ON orch_store.transactions USING btree (payer, number)",
}))

// found asks for all of it, and for what would have orch's statements change what is not orch's, or answer at another speed.
const found = `
WITH me AS (SELECT oid FROM pg_roles WHERE rolname = current_user),
ours AS (SELECT * FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'orch_store'))
SELECT 'the schema of another role' FROM pg_namespace WHERE nspname = 'orch_store' AND nspowner <> (SELECT oid FROM me)
UNION ALL SELECT CASE relkind WHEN 'r' THEN 'table ' WHEN 'i' THEN 'index ' WHEN 'S' THEN 'sequence ' WHEN 'v' THEN 'view '
    ELSE 'relation of kind ' || relkind::text || ' ' END || relname
    || CASE relpersistence WHEN 'p' THEN '' ELSE ' that is not logged' END
    || CASE WHEN relowner <> (SELECT oid FROM me) THEN ' of another role' ELSE '' END
    || CASE WHEN relrowsecurity THEN ' with row security' ELSE '' END
    || CASE WHEN relispartition THEN ' in another table' ELSE '' END
    || CASE WHEN reltablespace <> 0 THEN ' in another tablespace' ELSE '' END
    || CASE WHEN reloptions IS NOT NULL THEN ' with options ' || reloptions::text ELSE '' END
    FROM ours
UNION ALL SELECT 'column ' || relname || '.' || attname || ' ' || format_type(atttypid, atttypmod)
    || CASE WHEN attnotnull THEN ' not null' ELSE '' END
    || CASE attidentity WHEN '' THEN '' ELSE ' identity ' || attidentity::text END
    || CASE WHEN atthasdef THEN ' with an expression' ELSE '' END
    FROM ours JOIN pg_attribute ON attrelid = ours.oid WHERE relkind NOT IN ('i', 'S') AND attnum > 0 AND NOT attisdropped
UNION ALL SELECT relname || ': ' || pg_get_constraintdef(pg_constraint.oid)
    FROM ours JOIN pg_constraint ON conrelid = ours.oid WHERE contype <> 'n'
UNION ALL SELECT pg_get_indexdef(indexrelid) || CASE WHEN indisvalid AND indisready THEN '' ELSE ' that is not valid' END
    FROM ours JOIN pg_index ON indrelid = ours.oid
UNION ALL SELECT 'trigger ' || tgname || ' on ' || relname || CASE tgenabled WHEN 'O' THEN '' ELSE ' that is unusual' END
    FROM ours JOIN pg_trigger ON tgrelid = ours.oid WHERE NOT tgisinternal OR tgenabled <> 'O'
UNION ALL SELECT 'rule ' || rulename || ' on ' || relname FROM ours JOIN pg_rewrite ON ev_class = ours.oid
UNION ALL SELECT 'a foreign key of ' || conrelid::regclass::text FROM pg_constraint
    WHERE contype = 'f' AND confrelid IN (SELECT oid FROM ours) AND conrelid NOT IN (SELECT oid FROM ours)
UNION ALL SELECT 'inheritance of ' || inhrelid::regclass::text FROM pg_inherits
    WHERE inhparent IN (SELECT oid FROM ours) OR inhrelid IN (SELECT oid FROM ours)
`

const mostShown = 100

// refuseStrange says what is there and should not be, or should be and is not. It only reads. The connection's search_path must
// be pg_catalog alone, so that nobody else's functions are called and names are written in full.
func refuseStrange(ctx context.Context, connection *pgx.Conn) error {
	rows, err := connection.Query(ctx, found)
	if err != nil {
		return err
	}
	there, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	slices.Sort(there)
	if slices.Equal(there, expected) {
		return nil
	}
	for _, each := range there {
		if !slices.Contains(expected, each) {
			return fmt.Errorf("there is %s", short(each))
		}
	}
	for _, each := range expected {
		if !slices.Contains(there, each) {
			return fmt.Errorf("there is no %s", short(each))
		}
	}
	return fmt.Errorf("something is there twice")
}

func short(words string) string {
	if letters := []rune(words); len(letters) > mostShown {
		return string(letters[:mostShown-3]) + "..."
	}
	return words
}
