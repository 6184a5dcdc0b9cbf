from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TimestampRequest(_message.Message):
    __slots__ = ("request_timestamp",)
    REQUEST_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    request_timestamp: str
    def __init__(self, request_timestamp: _Optional[str] = ...) -> None: ...

class TimestampReply(_message.Message):
    __slots__ = ("request_timestamp", "response_timestamp")
    REQUEST_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    request_timestamp: str
    response_timestamp: str
    def __init__(self, request_timestamp: _Optional[str] = ..., response_timestamp: _Optional[str] = ...) -> None: ...

class AddRequest(_message.Message):
    __slots__ = ("a", "b")
    A_FIELD_NUMBER: _ClassVar[int]
    B_FIELD_NUMBER: _ClassVar[int]
    a: int
    b: int
    def __init__(self, a: _Optional[int] = ..., b: _Optional[int] = ...) -> None: ...

class AddReply(_message.Message):
    __slots__ = ("sum",)
    SUM_FIELD_NUMBER: _ClassVar[int]
    sum: int
    def __init__(self, sum: _Optional[int] = ...) -> None: ...

class Record(_message.Message):
    __slots__ = ("id", "name", "value", "active", "tags")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    id: int
    name: str
    value: float
    active: bool
    tags: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[int] = ..., name: _Optional[str] = ..., value: _Optional[float] = ..., active: _Optional[bool] = ..., tags: _Optional[_Iterable[str]] = ...) -> None: ...

class Records(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[Record]
    def __init__(self, items: _Optional[_Iterable[_Union[Record, _Mapping]]] = ...) -> None: ...

class EchoRequest(_message.Message):
    __slots__ = ("data", "records", "document")
    DATA_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    records: Records
    document: _struct_pb2.Value
    def __init__(self, data: _Optional[bytes] = ..., records: _Optional[_Union[Records, _Mapping]] = ..., document: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ...) -> None: ...

class EchoReply(_message.Message):
    __slots__ = ("data", "records", "document")
    DATA_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    records: Records
    document: _struct_pb2.Value
    def __init__(self, data: _Optional[bytes] = ..., records: _Optional[_Union[Records, _Mapping]] = ..., document: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ...) -> None: ...

class ImageRequest(_message.Message):
    __slots__ = ("data", "full_decode")
    DATA_FIELD_NUMBER: _ClassVar[int]
    FULL_DECODE_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    full_decode: bool
    def __init__(self, data: _Optional[bytes] = ..., full_decode: _Optional[bool] = ...) -> None: ...

class ImageReply(_message.Message):
    __slots__ = ("width", "height")
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    width: int
    height: int
    def __init__(self, width: _Optional[int] = ..., height: _Optional[int] = ...) -> None: ...

class TransferRequest(_message.Message):
    __slots__ = ("data", "reply_size")
    DATA_FIELD_NUMBER: _ClassVar[int]
    REPLY_SIZE_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    reply_size: int
    def __init__(self, data: _Optional[bytes] = ..., reply_size: _Optional[int] = ...) -> None: ...

class TransferReply(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class BalanceRequest(_message.Message):
    __slots__ = ("account",)
    ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    account: int
    def __init__(self, account: _Optional[int] = ...) -> None: ...

class BalanceReply(_message.Message):
    __slots__ = ("account", "owner", "balance")
    ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    BALANCE_FIELD_NUMBER: _ClassVar[int]
    account: int
    owner: str
    balance: int
    def __init__(self, account: _Optional[int] = ..., owner: _Optional[str] = ..., balance: _Optional[int] = ...) -> None: ...

class PaymentRequest(_message.Message):
    __slots__ = ("payer", "payee", "amount")
    PAYER_FIELD_NUMBER: _ClassVar[int]
    PAYEE_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    payer: int
    payee: int
    amount: int
    def __init__(self, payer: _Optional[int] = ..., payee: _Optional[int] = ..., amount: _Optional[int] = ...) -> None: ...

class PaymentReply(_message.Message):
    __slots__ = ("accepted", "payment", "balance")
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    PAYMENT_FIELD_NUMBER: _ClassVar[int]
    BALANCE_FIELD_NUMBER: _ClassVar[int]
    accepted: bool
    payment: int
    balance: int
    def __init__(self, accepted: _Optional[bool] = ..., payment: _Optional[int] = ..., balance: _Optional[int] = ...) -> None: ...

class TransactionsRequest(_message.Message):
    __slots__ = ("account", "count")
    ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    account: int
    count: int
    def __init__(self, account: _Optional[int] = ..., count: _Optional[int] = ...) -> None: ...

class Transaction(_message.Message):
    __slots__ = ("number", "payer", "payee", "amount")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    PAYER_FIELD_NUMBER: _ClassVar[int]
    PAYEE_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    number: int
    payer: int
    payee: int
    amount: int
    def __init__(self, number: _Optional[int] = ..., payer: _Optional[int] = ..., payee: _Optional[int] = ..., amount: _Optional[int] = ...) -> None: ...

class TransactionsReply(_message.Message):
    __slots__ = ("transactions",)
    TRANSACTIONS_FIELD_NUMBER: _ClassVar[int]
    transactions: _containers.RepeatedCompositeFieldContainer[Transaction]
    def __init__(self, transactions: _Optional[_Iterable[_Union[Transaction, _Mapping]]] = ...) -> None: ...

class AccountsRequest(_message.Message):
    __slots__ = ("after", "count")
    AFTER_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    after: int
    count: int
    def __init__(self, after: _Optional[int] = ..., count: _Optional[int] = ...) -> None: ...

class Account(_message.Message):
    __slots__ = ("account", "owner", "balance")
    ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    BALANCE_FIELD_NUMBER: _ClassVar[int]
    account: int
    owner: str
    balance: int
    def __init__(self, account: _Optional[int] = ..., owner: _Optional[str] = ..., balance: _Optional[int] = ...) -> None: ...

class AccountsReply(_message.Message):
    __slots__ = ("accounts",)
    ACCOUNTS_FIELD_NUMBER: _ClassVar[int]
    accounts: _containers.RepeatedCompositeFieldContainer[Account]
    def __init__(self, accounts: _Optional[_Iterable[_Union[Account, _Mapping]]] = ...) -> None: ...

class UserRequest(_message.Message):
    __slots__ = ("user",)
    USER_FIELD_NUMBER: _ClassVar[int]
    user: int
    def __init__(self, user: _Optional[int] = ...) -> None: ...

class UserReply(_message.Message):
    __slots__ = ("user", "name", "about", "joined")
    USER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ABOUT_FIELD_NUMBER: _ClassVar[int]
    JOINED_FIELD_NUMBER: _ClassVar[int]
    user: int
    name: str
    about: str
    joined: int
    def __init__(self, user: _Optional[int] = ..., name: _Optional[str] = ..., about: _Optional[str] = ..., joined: _Optional[int] = ...) -> None: ...

class PostsRequest(_message.Message):
    __slots__ = ("user", "count")
    USER_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    user: int
    count: int
    def __init__(self, user: _Optional[int] = ..., count: _Optional[int] = ...) -> None: ...

class Post(_message.Message):
    __slots__ = ("post", "author", "title", "text", "likes")
    POST_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    LIKES_FIELD_NUMBER: _ClassVar[int]
    post: int
    author: int
    title: str
    text: str
    likes: int
    def __init__(self, post: _Optional[int] = ..., author: _Optional[int] = ..., title: _Optional[str] = ..., text: _Optional[str] = ..., likes: _Optional[int] = ...) -> None: ...

class PostsReply(_message.Message):
    __slots__ = ("posts",)
    POSTS_FIELD_NUMBER: _ClassVar[int]
    posts: _containers.RepeatedCompositeFieldContainer[Post]
    def __init__(self, posts: _Optional[_Iterable[_Union[Post, _Mapping]]] = ...) -> None: ...

class CommentsRequest(_message.Message):
    __slots__ = ("user", "count", "each")
    USER_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    EACH_FIELD_NUMBER: _ClassVar[int]
    user: int
    count: int
    each: int
    def __init__(self, user: _Optional[int] = ..., count: _Optional[int] = ..., each: _Optional[int] = ...) -> None: ...

class Comment(_message.Message):
    __slots__ = ("comment", "post", "author", "text")
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    POST_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    comment: int
    post: int
    author: int
    text: str
    def __init__(self, comment: _Optional[int] = ..., post: _Optional[int] = ..., author: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class CommentsReply(_message.Message):
    __slots__ = ("comments",)
    COMMENTS_FIELD_NUMBER: _ClassVar[int]
    comments: _containers.RepeatedCompositeFieldContainer[Comment]
    def __init__(self, comments: _Optional[_Iterable[_Union[Comment, _Mapping]]] = ...) -> None: ...

class FeedRequest(_message.Message):
    __slots__ = ("user", "count", "each")
    USER_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    EACH_FIELD_NUMBER: _ClassVar[int]
    user: int
    count: int
    each: int
    def __init__(self, user: _Optional[int] = ..., count: _Optional[int] = ..., each: _Optional[int] = ...) -> None: ...

class FeedReply(_message.Message):
    __slots__ = ("user", "name", "about", "joined", "posts", "comments")
    USER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ABOUT_FIELD_NUMBER: _ClassVar[int]
    JOINED_FIELD_NUMBER: _ClassVar[int]
    POSTS_FIELD_NUMBER: _ClassVar[int]
    COMMENTS_FIELD_NUMBER: _ClassVar[int]
    user: int
    name: str
    about: str
    joined: int
    posts: _containers.RepeatedCompositeFieldContainer[Post]
    comments: _containers.RepeatedCompositeFieldContainer[Comment]
    def __init__(self, user: _Optional[int] = ..., name: _Optional[str] = ..., about: _Optional[str] = ..., joined: _Optional[int] = ..., posts: _Optional[_Iterable[_Union[Post, _Mapping]]] = ..., comments: _Optional[_Iterable[_Union[Comment, _Mapping]]] = ...) -> None: ...

class EventsRequest(_message.Message):
    __slots__ = ("interval_ns", "count", "size", "seed")
    INTERVAL_NS_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    interval_ns: int
    count: int
    size: int
    seed: int
    def __init__(self, interval_ns: _Optional[int] = ..., count: _Optional[int] = ..., size: _Optional[int] = ..., seed: _Optional[int] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("sequence", "sent_ns", "data")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    SENT_NS_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    sent_ns: int
    data: str
    def __init__(self, sequence: _Optional[int] = ..., sent_ns: _Optional[int] = ..., data: _Optional[str] = ...) -> None: ...

class ActivityRequest(_message.Message):
    __slots__ = ("interval_ns", "count", "after")
    INTERVAL_NS_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    interval_ns: int
    count: int
    after: int
    def __init__(self, interval_ns: _Optional[int] = ..., count: _Optional[int] = ..., after: _Optional[int] = ...) -> None: ...

class ActivityEvent(_message.Message):
    __slots__ = ("sequence", "sent_ns", "transaction", "payer", "payee", "amount")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    SENT_NS_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    PAYER_FIELD_NUMBER: _ClassVar[int]
    PAYEE_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    sent_ns: int
    transaction: int
    payer: int
    payee: int
    amount: int
    def __init__(self, sequence: _Optional[int] = ..., sent_ns: _Optional[int] = ..., transaction: _Optional[int] = ..., payer: _Optional[int] = ..., payee: _Optional[int] = ..., amount: _Optional[int] = ...) -> None: ...

class IdentityRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class IdentityReply(_message.Message):
    __slots__ = ("identity",)
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    identity: str
    def __init__(self, identity: _Optional[str] = ...) -> None: ...
