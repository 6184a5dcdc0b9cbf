package generator

import (
	"fmt"
	"strings"
	"sync"
)

// What stands in the tables of protos/posts.md.
const (
	UserCount    = 1_000
	PostCount    = 10_000
	CommentCount = 30_000
	PostsDigest  = "fdacc05ee55d69624f6ad4f2f16eb2572c139993ed91912bc7e30784b6f7a03b"
)

// User is a row: its number from 1, two texts, and the day since 1970 on which it joined.
type User struct {
	User   int64  `json:"user"`
	Name   string `json:"name"`
	About  string `json:"about"`
	Joined int64  `json:"joined"`
}

// Post is a row.
type Post struct {
	Post   int64  `json:"post"`
	Author int64  `json:"author"`
	Title  string `json:"title"`
	Text   string `json:"text"`
	Likes  int64  `json:"likes"`
}

// Comment is a row.
type Comment struct {
	Comment int64  `json:"comment"`
	Post    int64  `json:"post"`
	Author  int64  `json:"author"`
	Text    string `json:"text"`
}

// Users are all users, by number. Nobody may change them.
var Users = sync.OnceValue(func() []User {
	drawn := words("users", 4*UserCount)
	found := make([]User, UserCount)
	for place := range found {
		w := drawn[4*place:]
		found[place] = User{int64(place + 1), twoWords(w[0], w[1]), phrase(w[2], 24), 15_000 + below(w[3], 5_000)}
	}
	return found
})

// Posts are all posts, by number. Nobody may change them.
var Posts = sync.OnceValue(func() []Post {
	drawn := words("posts", 4*PostCount)
	found := make([]Post, PostCount)
	for place := range found {
		w := drawn[4*place:]
		found[place] = Post{
			int64(place + 1), 1 + below(w[0], UserCount), phrase(w[1], 4), phrase(w[2], 40), below(w[3], 10_000),
		}
	}
	return found
})

// Comments are all comments, by number. Nobody may change them.
var Comments = sync.OnceValue(func() []Comment {
	drawn := words("comments", 3*CommentCount)
	found := make([]Comment, CommentCount)
	for place := range found {
		w := drawn[3*place:]
		found[place] = Comment{int64(place + 1), 1 + below(w[0], PostCount), 1 + below(w[1], UserCount), phrase(w[2], 16)}
	}
	return found
})

// PostsOf are the posts of each user, newest first; those of user n at place n.
var PostsOf = sync.OnceValue(func() [][]Post {
	return newestFirst(Posts(), UserCount, func(row *Post) int64 { return row.Author })
})

// CommentsUnder are the comments under each post, newest first; those under post n at place n.
var CommentsUnder = sync.OnceValue(func() [][]Comment {
	return newestFirst(Comments(), PostCount, func(row *Comment) int64 { return row.Post })
})

// LastPosts are the last posts of a user there is, at most so many.
func LastPosts(user, count int64) []Post {
	of := PostsOf()[user]
	return of[:min(count, int64(len(of)))]
}

// LastComments are, under each of those posts in that order, the last comments, at most so many.
func LastComments(posts []Post, each int64) []Comment {
	found := make([]Comment, 0, int64(len(posts))*each)
	for place := range posts {
		under := CommentsUnder()[posts[place].Post]
		found = append(found, under[:min(each, int64(len(under)))]...)
	}
	return found
}

// phrase is a text of so many words of the dictionary: each five places behind the last one, around and around.
func phrase(word uint32, size int) string {
	at := int(below(word, int64(len(dictionary))))
	found := make([]string, size)
	for place := range found {
		found[place] = dictionary[(at+5*place)%len(dictionary)]
	}
	return strings.Join(found, " ")
}

// Line is a row as text: its fields with tabs between them, and a line feed.
func (u *User) Line() string {
	return fmt.Sprintf("%d\t%s\t%s\t%d\n", u.User, u.Name, u.About, u.Joined)
}

// Line is a row as text: its fields with tabs between them, and a line feed.
func (p *Post) Line() string {
	return fmt.Sprintf("%d\t%d\t%s\t%s\t%d\n", p.Post, p.Author, p.Title, p.Text, p.Likes)
}

// Line is a row as text: its fields with tabs between them, and a line feed.
func (c *Comment) Line() string {
	return fmt.Sprintf("%d\t%d\t%d\t%s\n", c.Comment, c.Post, c.Author, c.Text)
}

// Most posts and comments that a page is asked for.
const (
	PagePosts    = 10
	PageComments = 5
)

// AskedUsers are the users whose pages are asked for; a request asks for that of its sequence modulo Prepared.
func AskedUsers(seed int64) []int64 {
	found := make([]int64, Prepared)
	for place, word := range words(fmt.Sprintf("feed/%d", seed), Prepared) {
		found[place] = 1 + below(word, UserCount)
	}
	return found
}
