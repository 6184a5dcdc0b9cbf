package generator

import (
	"bytes"
	"testing"
)

type row[T any] interface {
	*T
	Line() string
}

func linesOf[T any, P row[T]](rows []T) []byte {
	var text bytes.Buffer
	for place := range rows {
		text.WriteString(P(&rows[place]).Line())
	}
	return text.Bytes()
}

func TestRowsAreThoseOfTheContract(t *testing.T) {
	accounts := DigestOf(linesOf[Account](Accounts()), linesOf[Transaction](Transactions()))
	if accounts != AccountsDigest {
		t.Errorf("accounts and transactions have the digest %s", accounts)
	}
	posts := DigestOf(linesOf[User](Users()), linesOf[Post](Posts()), linesOf[Comment](Comments()))
	if posts != PostsDigest {
		t.Errorf("users, posts and comments have the digest %s", posts)
	}
}

func TestLastRowsAreTheNewestFirst(t *testing.T) {
	for number, of := range TransactionsOf() {
		for place := range of {
			if of[place].Payer != int64(number) || (place > 0 && of[place].Number >= of[place-1].Number) {
				t.Fatalf("account %d: %v", number, of)
			}
		}
	}
	posts := LastPosts(7, 3)
	if len(posts) != 3 || posts[0].Post <= posts[1].Post {
		t.Errorf("posts of user 7: %v", posts)
	}
	for _, comment := range LastComments(posts[:1], 2) {
		if comment.Post != posts[0].Post {
			t.Errorf("%v is under no %d", comment, posts[0].Post)
		}
	}
}
