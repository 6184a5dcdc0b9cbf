package store

import (
	"sync"
	"testing"

	"orch/internal/contract"
	"orch/internal/generator"
	"orch/internal/operation"
)

var noPayload = contract.Payload{Kind: "none"}

func held(t *testing.T, name string) *Held {
	t.Helper()
	opened, err := Open([]string{name}, map[string]string{"store": "none"})
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := operation.KindOfRows(name)
	return opened[kind]
}

func paid(of *Held, payer, payee, amount int64) (operation.Made, error) {
	var reply operation.Reply
	err := of.Answer(&operation.Request{Kind: operation.Payment, Payer: payer, Payee: payee, Amount: amount}, &reply)
	if err != nil {
		return operation.Made{}, err
	}
	return reply.Rows.Payment, nil
}

func TestEveryRequestIsAnsweredRightly(t *testing.T) {
	for kind := operation.Balance; kind <= operation.Feed; kind++ {
		of := held(t, kind.String())
		for _, seed := range []int64{1, 7} {
			var asked operation.Request
			makes, err := operation.Requests(kind.String(), noPayload, seed)
			if err != nil {
				t.Fatal(err)
			}
			for sequence := range int64(generator.Prepared) {
				request := makes(sequence, &asked)
				var reply operation.Reply
				if err := of.Answer(request, &reply); err != nil {
					t.Fatal(err)
				}
				if mistake := operation.Mistake(request, &reply); mistake != "" {
					t.Fatal(mistake)
				}
			}
		}
		if times := of.Times(); times.Requests != 2*generator.Prepared || times.Storeless != times.Requests ||
			times.HandlingS <= 0 || times.HandlingS != times.ServiceS {
			t.Errorf("%s: %+v", kind, times)
		}
	}
}

func TestPaymentsAtOnceLoseNoCent(t *testing.T) {
	of := held(t, "payment")
	before := generator.Accounts()
	var group sync.WaitGroup
	for turn := range 40 {
		group.Go(func() {
			for range 50 {
				if turn%2 == 0 {
					_, _ = paid(of, 8, 9, 1)
				} else {
					_, _ = paid(of, 9, 8, 1)
				}
			}
		})
	}
	group.Wait()
	made, err := paid(of, 8, 10, 1)
	if err != nil || made.Balance != before[7].Balance-1 || made.Number != generator.TransactionCount+2001 {
		t.Errorf("%+v, %v", made, err)
	}
	if generator.Accounts()[7].Balance != before[7].Balance {
		t.Error("the seeded rows were changed")
	}
	newest := of.keeper.(*accounts).last(8, 2)
	if newest[0].Number != made.Number || newest[0].Payee != 10 {
		t.Errorf("%v", newest)
	}
}

func TestWhatCannotBePaidChangesNothing(t *testing.T) {
	of := held(t, "payment")
	before := generator.Accounts()[2]
	for _, wrong := range [][3]int64{{3, 3, 1}, {3, 4, 0}, {3, 4, -5}, {3, 10_001, 1}, {0, 3, 1}} {
		if made, err := paid(of, wrong[0], wrong[1], wrong[2]); err == nil {
			t.Errorf("%v: %+v", wrong, made)
		}
	}
	declined, err := paid(of, 3, 4, before.Balance+1)
	if err != nil || declined != (operation.Made{Balance: before.Balance}) {
		t.Errorf("%+v, %v", declined, err)
	}
	of.keeper.(*accounts).accounts[3].Balance = generator.MostBalance
	if made, err := paid(of, 3, 4, 1); err == nil {
		t.Errorf("the payee has too much: %+v", made)
	}
	if of.Times().Requests != 1 {
		t.Errorf("%+v", of.Times())
	}
}

func TestOneWrongFieldOfARowIsAMistake(t *testing.T) {
	for name, change := range map[string]func(*operation.Rows){
		"balance":      func(rows *operation.Rows) { rows.Account.Owner += "s" },
		"payment":      func(rows *operation.Rows) { rows.Payment.Number = 7 },
		"transactions": func(rows *operation.Rows) { rows.Transactions[1].Amount++ },
		"accounts":     func(rows *operation.Rows) { rows.Accounts = rows.Accounts[1:] },
		"user":         func(rows *operation.Rows) { rows.User.Joined++ },
		"posts":        func(rows *operation.Rows) { rows.Posts = nil },
		"comments":     func(rows *operation.Rows) { rows.Comments = append(rows.Comments, rows.Comments[0]) },
		"feed":         func(rows *operation.Rows) { rows.User.Name = "" },
	} {
		of := held(t, name)
		makes, _ := operation.Requests(name, noPayload, 3)
		request := makes(1, nil)
		var reply operation.Reply
		if err := of.Answer(request, &reply); err != nil {
			t.Fatal(err)
		}
		change(reply.Rows)
		if operation.Mistake(request, &reply) == "" {
			t.Errorf("%s: nobody sees it", name)
		}
		if operation.Mistake(request, &operation.Reply{}) == "" {
			t.Errorf("%s: a reply without rows is right", name)
		}
	}
}
