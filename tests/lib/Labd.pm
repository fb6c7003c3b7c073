# SPDX-License-Identifier: GPL-2.0-only
# A labd of a test's own: temporary data directory, free port, requests, and its end.
package Labd;
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use HTTP::Tiny;
use IO::Select;
use JSON::PP;
use POSIX qw(:sys_wait_h);
use Time::HiRes qw(sleep time);

our $top   = abs_path(dirname(__FILE__) . "/../..");
our $build = $ENV{O} || "$top/build";

# Labd->new(data => DIR, args => [...], env => {...}): the folder is temporary unless given.
sub new {
	my ($class, %opt) = @_;
	my $self = bless {
		data => $opt{data} // tempdir("labd-test-XXXXXX", TMPDIR => 1, CLEANUP => 1),
		args => $opt{args} // [],
		env  => $opt{env}  // {},
	}, $class;
	$self->start;
	return $self;
}

# Starts the daemon on a free port and waits until it says which; dies with its log if it ends instead.
sub start {
	my $self = shift;
	pipe(my $out, my $in) or die "pipe: $!";
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		close $out;
		open STDERR, ">&", $in;
		$ENV{$_} = $self->{env}{$_} for keys %{ $self->{env} };
		exec { "$build/labd" } "labd", "--data", $self->{data}, "--port", 0, @{ $self->{args} }
			or POSIX::_exit(127);
	}
	close $in;
	$self->{pid}  = $pid;
	$self->{pipe} = $out;
	$self->{log}  = "";
	my $until = time + 30;
	until ($self->{log} =~ m{serves http://127\.0\.0\.1:\d+\s}) {
		die "labd did not start:\n$self->{log}" if !$self->read_log($until - time);
	}
	($self->{port}) = $self->{log} =~ m{serves http://127\.0\.0\.1:(\d+)\s};
	return $self;
}

# Reads what the daemon logged; false at its end or after $seconds without a word.
sub read_log {
	my ($self, $seconds) = @_;
	return 0 if !IO::Select->new($self->{pipe})->can_read($seconds);
	return sysread($self->{pipe}, $self->{log}, 65536, length $self->{log});
}

sub log {
	my $self = shift;
	1 while $self->read_log(0);
	return $self->{log};
}

sub url { "http://127.0.0.1:$_[0]{port}" }

sub token {
	my $self = shift;
	open my $fh, "<", "$self->{data}/token" or die "token: $!";
	return scalar <$fh>;
}

# One request; a hash reference as body is sent as JSON with the token. Answers the response with ->{json}.
sub request {
	my ($self, $method, $path, $body, %headers) = @_;
	my %h = %headers;
	if ($method ne "GET") {
		$h{Authorization}  //= "Bearer " . $self->token;
		$h{"Content-Type"} //= "application/json";
	}
	delete $h{$_} for grep { !defined $h{$_} || $h{$_} eq "" } keys %h;
	$body = JSON::PP->new->utf8->canonical->encode($body) if ref $body;
	my $r = HTTP::Tiny->new(timeout => 60)->request($method, $self->url . $path,
		{ headers => \%h, defined $body ? (content => $body) : () });
	$r->{json} = eval { JSON::PP->new->utf8->decode($r->{content}) }
		if ($r->{headers}{"content-type"} // "") =~ /json/;
	return $r;
}

sub get { my ($self, $path, %h) = @_; return $self->request("GET", $path, undef, %h) }

# Submits a spec (hash or file name below the top); answers the experiment's number or dies with the problem.
sub submit {
	my ($self, $spec) = @_;
	$spec = spec($spec) if !ref $spec;
	my $r = $self->request("POST", "/api/v1/experiments", $spec);
	die "submit: $r->{status} $r->{content}" if $r->{status} != 201;
	return $r->{json}{id};
}

sub spec {
	my $file = shift;
	open my $fh, "<", "$top/$file" or die "$file: $!";
	local $/;
	return JSON::PP->new->utf8->decode(<$fh>);
}

# A spec as one that gives no verdict, which may have any number of rounds.
sub descriptive {
	my $spec = shift;
	delete $spec->{primary};
	delete $_->{primary} for @{ $spec->{metrics} };
	return $spec;
}

# Waits until the code answers true, at most $seconds; answers what it said last.
sub until {
	my ($self, $seconds, $code) = @_;
	my $end = time + $seconds;
	my $got;
	until ($got = $code->()) {
		last if time > $end;
		$self->log;
		sleep 0.2;
	}
	return $got;
}

# Waits for an experiment's end and answers its state.
sub finish {
	my ($self, $id, $seconds) = @_;
	my $state = "";
	$self->until($seconds, sub {
		$state = $self->get("/api/v1/experiments/$id")->{json}{state} // "";
		$state =~ /^(done|failed|cancelled)$/;
	});
	return $state;
}

# What ended otherwise than it should have, a line each: a test that compares figures cannot tell why one is missing.
sub bad_ends {
	my ($self, $id) = @_;
	return map { join ": ", @$_ } $self->sql("SELECT 'boot ' || boot, state, detail FROM v_boot WHERE state <> 'ok' AND "
		. "experiment = :experiment UNION ALL SELECT 'run ' || run, state, reason FROM v_run WHERE state <> 'ok' AND "
		. "experiment = :experiment UNION ALL SELECT 'round ' || round || ', ' || arm || ', ' || scenario, 'void', reason "
		. "FROM void_pair WHERE experiment = :experiment", $id);
}

# The queries of docs/sql.md: {title, sql, may_be_empty} of each. Those under a heading "Xen: …" need an experiment
# with a hypervisor, and are had with doc_queries("xen").
sub doc_queries {
	my $subject = shift // "";
	open my $fh, "<", "$top/docs/sql.md" or die "docs/sql.md: $!";
	my ($title, @queries) = ("");
	for my $part (split /^(?=## |```)/m, do { local $/; <$fh> }) {
		$title = $1 if $part =~ /^## (.*)/;
		next if $part !~ /^```sql\n(.*)/s;
		my $sql = $1;
		push @queries, { title => $title, sql => $sql, may_be_empty => scalar $sql =~ /v_loss|v_reproduction|v_floor|variance_json|NOT IN \('ok'|failed > 0/ }
			if ($title =~ /^Xen: / ? "xen" : "") eq $subject;
	}
	return @queries;
}

# Rows of a query on lab.db with the experiment's events attached, as a list of lists; :experiment is bound.
sub sql {
	my ($self, $query, $id) = @_;
	my @attach = defined $id && -e "$self->{data}/events/$id.db"
		? ("-cmd", "ATTACH 'file:$self->{data}/events/$id.db?mode=ro' AS events") : ();
	push @attach, "-cmd", ".parameter set :experiment $id" if defined $id;
	open my $fh, "-|", "sqlite3", "-readonly", "-bail", "-separator", "\x1f", "-cmd", ".timeout 20000",
		@attach, "$self->{data}/lab.db", $query or die "sqlite3: $!";
	my @rows = map { chomp; [ split /\x1f/, $_, -1 ] } <$fh>;
	close $fh or die "sqlite3 failed on: $query\n";
	return @rows;
}

# The only value of a query.
sub value {
	my @rows = sql(@_);
	return @rows ? $rows[0][0] : undef;
}

sub labctl {
	my ($self, @args) = @_;
	local $ENV{LABD_URL}        = $self->url;
	local $ENV{LABD_TOKEN_FILE} = "$self->{data}/token";
	open my $fh, "-|", "sh", "-c", 'exec "$@" 2>&1', "sh", "$build/labctl", @args or die "labctl: $!";
	local $/;
	my $out = <$fh> // "";
	close $fh;
	return wantarray ? ($? >> 8, $out) : $out;
}

# Ends the daemon by a signal; answers its exit code (or 128 + signal).
sub stop {
	my ($self, $signal) = @_;
	return if !$self->{pid};
	kill $signal // "TERM", $self->{pid};
	waitpid $self->{pid}, 0;
	my $status = $?;
	1 while $self->read_log(1);
	delete $self->{pid};
	return $status & 127 ? 128 + ($status & 127) : $status >> 8;
}

sub DESTROY {
	local ($?, $!, $@);
	$_[0]->stop;
}

1;
