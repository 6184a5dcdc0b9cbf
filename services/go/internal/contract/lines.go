// Package contract has the lines of protos/process.md: those that are read, strictly, and those that are printed.
package contract

// Version of the contract. A line of another one is refused.
const Version = 2

// File is one that a line names, with its SHA-256.
type File struct {
	Path   string `line:"path" must:"yes"`
	SHA256 string `line:"sha256" must:"yes"`
}

// ServerTLS names the files of a responder's certificate, with its chain, and of its key, PEM.
type ServerTLS struct {
	Certificate string `line:"certificate" must:"yes"`
	Key         string `line:"key" must:"yes"`
}

// Serve says what a responder answers, and where.
type Serve struct {
	Protocol       string            `line:"protocol" must:"yes"`
	Identity       string            `line:"identity" must:"yes"`
	Implementation *string           `line:"implementation"`
	Host           string            `line:"host"`
	Port           int64             `line:"port" within:"0..65535"`
	Knobs          map[string]string `line:"knobs"`
	Schema         *File             `line:"schema"`
	Operations     []string          `line:"operations"`
	Resources      map[string]string `line:"resources" null:"yes"`
	TLS            *ServerTLS        `line:"tls"`
}

// SetDefaults sets what a line may leave out.
func (s *Serve) SetDefaults() { s.Host = "127.0.0.1" }

// Target is where to ask, and the nonce that the right responder answers with; nil where nobody knows it beforehand.
type Target struct {
	Host      string  `line:"host" must:"yes"`
	Port      int64   `line:"port" must:"yes" within:"0..65535"`
	Identity  *string `line:"identity"`
	Anonymous bool    `line:"anonymous"`
}

// Payload is what an operation carries.
type Payload struct {
	Kind         string  `line:"kind" one:"none|bytes|records|json|image|events|exchange|transfer|evolution|call"`
	Size         int64   `line:"size" within:"0..9007199254740991"`
	ReplySize    int64   `line:"reply_size" within:"0..9007199254740991"`
	Count        int64   `line:"count" within:"0..9007199254740991"`
	PerSecond    float64 `line:"per_second" within:"0..1000000000"`
	Path         *string `line:"path"`
	SHA256       *string `line:"sha256"`
	FullDecode   bool    `line:"full_decode"`
	Opening      int64   `line:"opening" within:"0..9007199254740991"`
	SchemaChange string  `line:"schema_change" one:"none|added|removed|renamed|renamed-without-alias|renumbered|widened|retyped"`
}

// SetDefaults sets what a line may leave out.
func (p *Payload) SetDefaults() { p.Kind, p.Opening, p.SchemaChange = "none", 1, "none" }

// Load is how requests are offered.
type Load struct {
	Concurrency int64    `line:"concurrency" within:"0..9007199254740991"`
	Requests    *int64   `line:"requests" within:"0..9007199254740991"`
	DurationS   *float64 `line:"duration_s" within:"0..1000000"`
	RatePerS    *float64 `line:"rate_per_s" within:"0..1000000000"`
	Arrivals    string   `line:"arrivals" one:"poisson|uniform"`
	ThinkS      float64  `line:"think_s" within:"0..1000000"`
	Thinking    string   `line:"thinking" one:"constant|exponential"`
}

// SetDefaults sets what a line may leave out.
func (l *Load) SetDefaults() { l.Concurrency, l.Arrivals, l.Thinking = 1, "poisson", "constant" }

// Warmup goes on until so many requests and seconds are both reached, and no longer than AtMostS.
type Warmup struct {
	Requests int64   `line:"requests" within:"0..9007199254740991"`
	AtLeastS float64 `line:"at_least_s" within:"0..1000000"`
	AtMostS  float64 `line:"at_most_s" within:"0..1000000"`
}

// SetDefaults sets what a line may leave out.
func (w *Warmup) SetDefaults() { w.Requests, w.AtLeastS, w.AtMostS = 500, 2, 60 }

// Mixed is one operation of a mix.
type Mixed struct {
	Operation string  `line:"operation" must:"yes"`
	Weight    int64   `line:"weight" must:"yes" within:"1..1000000"`
	Payload   Payload `line:"payload"`
}

// SetDefaults sets what a line may leave out.
func (m *Mixed) SetDefaults() { m.Payload.SetDefaults() }

// Trial is what a requester does.
type Trial struct {
	Protocol      string            `line:"protocol" must:"yes"`
	Client        string            `line:"client" must:"yes"`
	Operation     string            `line:"operation" must:"yes"`
	Record        string            `line:"record" must:"yes"`
	Target        *Target           `line:"target"`
	Payload       Payload           `line:"payload"`
	Connection    string            `line:"connection" one:"reuse|per-request"`
	Load          Load              `line:"load"`
	Warmup        Warmup            `line:"warmup"`
	TimeoutS      float64           `line:"timeout_s" within:"0..1000000"`
	Seed          int64             `line:"seed" within:"0..9007199254740991"`
	Calls         int64             `line:"calls" within:"1..1000"`
	StartAtUnixNS *int64            `line:"start_at_unix_ns" within:"0..4611686018427387904"`
	Hold          bool              `line:"hold"`
	TurnWarmUp    *int64            `line:"turn_warm_up" within:"0..9007199254740991"`
	Knobs         map[string]string `line:"knobs"`
	Schema        *File             `line:"schema"`
	TLS           *File             `line:"tls"`
	Mix           []Mixed           `line:"mix"`
}

// SetDefaults sets what a line may leave out.
func (t *Trial) SetDefaults() {
	t.Connection, t.TimeoutS, t.Calls = "reuse", 30, 1
	t.Payload.SetDefaults()
	t.Load.SetDefaults()
	t.Warmup.SetDefaults()
}

// Reuses tells whether connections are kept.
func (t *Trial) Reuses() bool { return t.Connection == "reuse" }

// Clocks are both clocks of a host, read together.
type Clocks struct {
	WallNS      int64 `json:"wall_ns"`
	MonotonicNS int64 `json:"monotonic_ns"`
}

// TCPCounters are of everything in this network namespace.
type TCPCounters struct {
	SegmentsSent int64 `json:"segments_sent"`
	Retransmits  int64 `json:"retransmits"`
}

// HostCounters are what a host counts; nil is what this system does not have.
type HostCounters struct {
	MonotonicNS int64              `json:"monotonic_ns"`
	TickHz      float64            `json:"tick_hz"`
	CPUTicks    map[string]int64   `json:"cpu_ticks"`
	PressureUS  map[string]*int64  `json:"pressure_us"`
	Throttling  map[string]int64   `json:"throttling"`
	CgroupCPUUS *int64             `json:"cgroup_cpu_us"`
	TCP         *TCPCounters       `json:"tcp"`
	LoadAverage []float64          `json:"load_average"`
	Process     map[string]float64 `json:"process"`
}

// Ready says that a responder accepts connections.
type Ready struct {
	Port           int               `json:"port"`
	Implementation string            `json:"implementation"`
	Identity       string            `json:"identity"`
	Versions       map[string]string `json:"versions"`
	Settings       map[string]string `json:"settings"`
	Contract       int               `json:"contract"`
	Type           string            `json:"type"`
}

// EventsSent are of the subscriptions that are over.
type EventsSent struct {
	Offered     int64 `json:"offered"`
	Sent        int64 `json:"sent"`
	WorstLateNS int64 `json:"worst_late_ns"`
}

// StoreTimes are where the handling time of requests to a store went: sums since the responder began, seconds.
type StoreTimes struct {
	Requests  int64   `json:"requests"`
	HandlingS float64 `json:"handling_s"`
	QueueS    float64 `json:"queue_s"`
	PoolS     float64 `json:"pool_s"`
	DatabaseS float64 `json:"database_s"`
	ServiceS  float64 `json:"service_s"`
	Queries   int64   `json:"queries"`
	Storeless int64   `json:"storeless"`
}

// Add adds the sums of another store.
func (t *StoreTimes) Add(other *StoreTimes) {
	t.Requests += other.Requests
	t.HandlingS += other.HandlingS
	t.QueueS += other.QueueS
	t.PoolS += other.PoolS
	t.DatabaseS += other.DatabaseS
	t.ServiceS += other.ServiceS
	t.Queries += other.Queries
	t.Storeless += other.Storeless
}

// Stats are what a responder has answered so far.
type Stats struct {
	Answered    int64         `json:"answered"`
	Peers       int           `json:"peers"`
	CPUS        float64       `json:"cpu_s"`
	MemoryBytes int64         `json:"memory_bytes"`
	MemorySince string        `json:"memory_since"`
	Host        *HostCounters `json:"host"`
	Events      *EventsSent   `json:"events"`
	Store       *StoreTimes   `json:"store"`
	Type        string        `json:"type"`
}

// Bodies are the bytes of a request's body and of its reply's.
type Bodies struct {
	Sent     int64 `json:"sent"`
	Received int64 `json:"received"`
}

// Checked says that the right responder answers, and rightly.
type Checked struct {
	BodyBytesSent     int64    `json:"body_bytes_sent"`
	BodyBytesReceived int64    `json:"body_bytes_received"`
	Mix               []Bodies `json:"mix,omitempty"`
	Contract          int      `json:"contract"`
	Type              string   `json:"type"`
}

// Start says that the warm-up begins.
type Start struct {
	Anchor Clocks `json:"anchor"`
	Type   string `json:"type"`
}

// Warm says that the warm-up is over.
type Warm struct {
	Requests int64  `json:"requests"`
	Type     string `json:"type"`
}

// Turn says that a turn is over. What is nil is not known.
type Turn struct {
	Number   int64    `json:"number"`
	Requests int64    `json:"requests"`
	BeginNS  int64    `json:"begin_ns"`
	EndNS    int64    `json:"end_ns"`
	CPUS     float64  `json:"cpu_s"`
	WaitedS  *float64 `json:"waited_s"`
	StolenS  *float64 `json:"stolen_s"`
	Type     string   `json:"type"`
}

// Progress says how far a phase has come.
type Progress struct {
	Phase    string  `json:"phase"`
	Requests int64   `json:"requests"`
	ElapsedS float64 `json:"elapsed_s"`
	Type     string  `json:"type"`
}

// Failed is the last line of a trial that could not be made, or goes on no more.
type Failed struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Type    string `json:"type"`
}

// Wire are sums of TCP_INFO over the measured phase.
type Wire struct {
	BytesSent        int64 `json:"bytes_sent"`
	BytesReceived    int64 `json:"bytes_received"`
	SegmentsSent     int64 `json:"segments_sent"`
	SegmentsReceived int64 `json:"segments_received"`
	Retransmits      int64 `json:"retransmits"`
}

// EventsReceived are those of the measured subscriptions.
type EventsReceived struct {
	Offered    int64 `json:"offered"`
	Delivered  int64 `json:"delivered"`
	Dropped    int64 `json:"dropped"`
	Duplicated int64 `json:"duplicated"`
	Reordered  int64 `json:"reordered"`
	Wrong      int64 `json:"wrong"`
}

// Negotiated is what the TLS handshakes of a trial came to.
type Negotiated struct {
	Version    *string `json:"version"`
	Cipher     *string `json:"cipher"`
	Handshakes int64   `json:"handshakes"`
	Resumed    int64   `json:"resumed"`
}

// Opening is how long connections took to open, medians in seconds.
type Opening struct {
	Connections int      `json:"connections"`
	ConnectS    *float64 `json:"connect_s"`
	TLSS        *float64 `json:"tls_s"`
}

// Done is the last line of a trial that was made. What is nil is not known.
type Done struct {
	Rows              int64             `json:"rows"`
	WarmupRequests    int64             `json:"warmup_requests"`
	Requests          int64             `json:"requests"`
	Errors            map[string]int64  `json:"errors"`
	NotSent           int64             `json:"not_sent"`
	NotSentReason     *string           `json:"not_sent_reason"`
	ErrorExamples     map[string]string `json:"error_examples"`
	Identity          *string           `json:"identity"`
	Verified          *int64            `json:"verified"`
	VerifiedInFlight  *int64            `json:"verified_in_flight"`
	VerifiedByBytes   int64             `json:"verified_by_bytes,omitempty"`
	Events            *EventsReceived   `json:"events"`
	TLS               *Negotiated       `json:"tls"`
	BeginNS           *int64            `json:"begin_ns"`
	MeasuredS         *float64          `json:"measured_s"`
	PausedS           *float64          `json:"paused_s"`
	EnteringS         *float64          `json:"entering_s"`
	BodyBytesSent     *int64            `json:"body_bytes_sent"`
	BodyBytesReceived *int64            `json:"body_bytes_received"`
	Wire              *Wire             `json:"wire"`
	MinRTTUS          *float64          `json:"min_rtt_us"`
	ConnectionsOpened *int64            `json:"connections_opened"`
	Opening           *Opening          `json:"opening"`
	CPUS              *float64          `json:"cpu_s"`
	CPUShare          *float64          `json:"cpu_share"`
	MemoryBytes       *int64            `json:"memory_bytes"`
	MemorySince       *string           `json:"memory_since"`
	LoopLagMS         *float64          `json:"loop_lag_ms"`
	Anchor            *Clocks           `json:"anchor"`
	AnchorEnd         *Clocks           `json:"anchor_end"`
	ClockResolutionNS float64           `json:"clock_resolution_ns"`
	Client            string            `json:"client"`
	Versions          map[string]string `json:"versions"`
	Settings          map[string]string `json:"settings"`
	HostBefore        *HostCounters     `json:"host_before"`
	HostAfter         *HostCounters     `json:"host_after"`
	Contract          int               `json:"contract"`
	Type              string            `json:"type"`
}
