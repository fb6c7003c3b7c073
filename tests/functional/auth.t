#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Who may ask and who may change: refusals are problems, nothing is stored, the token never shows.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
use Labd;
use Test::More;

my $lab   = Labd->new;
my $token = $lab->token;
my $list  = "/api/v1/experiments";

# A request as raw bytes, for what HTTP::Tiny would mend; answers status and the whole reply.
sub raw {
	my ($text) = @_;
	my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $lab->{port}, Timeout => 10)
		or die "connect: $!";
	print $socket $text;
	local $/;
	my $reply = <$socket> // "";
	return ($reply =~ m{^HTTP/1\.1 (\d+)} ? $1 : 0, $reply);
}

sub refused {
	my ($r, $status, $detail, $name) = @_;
	is($r->{status}, $status, "$name: $status");
	is($r->{headers}{"content-type"}, "application/problem+json", "$name: a problem");
	is($r->{json}{status}, $status, "$name: the problem says so too");
	like($r->{json}{detail} // "", $detail, "$name: " . ($r->{json}{detail} // "no detail"));
	unlike($r->{content}, qr/\Q$token\E/, "$name: the token does not show");
}

is((stat "$lab->{data}/token")[2] & 0777, 0600, "the token's file is its owner's");
like($token, qr/^[0-9a-f]{64}$/, "and it is 256 random bits");

# Token and content type. An empty header is left out by the request helper.
refused($lab->request("POST", $list, "{}", Authorization => ""), 401, qr/token/, "no token");
refused($lab->request("POST", $list, "{}", Authorization => "Bearer " . "0" x 64), 401, qr/token/, "wrong token");
refused($lab->request("POST", $list, "{}", Authorization => "Bearer "), 401, qr/token/, "empty token");
refused($lab->request("POST", $list, "{}", Authorization => "Bearer " . substr($token, 0, 63)), 401, qr/token/, "short token");
refused($lab->request("POST", $list, "{}", Authorization => "Basic $token"), 401, qr/token/, "wrong scheme");
refused($lab->request("POST", $list, "{}", "Content-Type" => "text/plain"), 415, qr{application/json}, "plain text");
refused($lab->request("POST", $list, "{}", "Content-Type" => "application/jsonp"), 415, qr{application/json}, "almost JSON");
is($lab->request("POST", $list, "{}", "Content-Type" => "application/json; charset=utf-8")->{status} / 100 % 10, 4,
	"a parameter of the content type is fine, so the spec is judged");
for my $path ("$list/1/cancel", "/api/v1/builds", "/api/v1/imports") {
	refused($lab->request("POST", $path, "{}", Authorization => ""), 401, qr/token/, "POST $path without a token");
}

# Bodies.
refused($lab->request("POST", $list, "x" x 10_000_000), 413, qr/1048576 bytes/, "10 MB");
refused($lab->request("POST", $list, "x" x 10_000_000, Authorization => ""), 401, qr/token/, "10 MB without a token");
my $left = 10_000_000;
my $r = HTTP::Tiny->new->request("POST", $lab->url . $list, {
	headers => { Authorization => "Bearer $token", "Content-Type" => "application/json" },
	content => sub { my $n = $left < 65536 ? $left : 65536; $left -= $n; "x" x $n },
});
is($r->{status}, 413, "10 MB in chunks of unknown number");

# Names by which labd may be called.
for my $host ("127.0.0.1", "localhost", "LOCALHOST", "[::1]") {
	my ($status) = raw("GET /healthz HTTP/1.1\r\nHost: $host:$lab->{port}\r\nConnection: close\r\n\r\n");
	is($status, 200, "Host $host is ours");
}
for my $host ("evil.example", "evil.example:$lab->{port}", "127.0.0.1.evil.example:$lab->{port}", "localhost",
	"localhost:1", "127.0.0.1:$lab->{port}x", "") {
	my ($status, $reply) = raw("GET /api/v1/experiments HTTP/1.1\r\nHost: $host\r\nConnection: close\r\n\r\n");
	is($status, 421, "Host \"$host\" is not");
	like($reply, qr{application/problem\+json}, "and that is a problem");
}
my ($none) = raw("GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n");
like($none, qr/^4/, "no Host at all: $none");

# Methods and paths.
for my $case ([ PUT => $list, "GET, HEAD, POST" ], [ DELETE => "$list/1", "GET, HEAD" ],
	[ GET => "$list/1/cancel", "POST" ], [ POST => "/metrics", "GET, HEAD" ], [ POST => "/", "GET, HEAD" ]) {
	my ($method, $path, $allow) = @$case;
	$r = $lab->request($method, $path);
	refused($r, 405, qr/takes/, "$method $path");
	is($r->{headers}{allow}, $allow, "and Allow says what goes");
}
for my $path ("/nothing", "/api/v1/nothing", "/api/v2/experiments", "$list/", "$list/0", "$list/-1", "$list/1x",
	"$list/99999999999999999999", "$list/1", "/api/v1/builds/nothing", "/api/v1/builds/nothing/log", "/api/v1/builds/nothing/events",
	"/api/v1/machines/nothing", "$list/1/results", "$list/1/report", "$list/1/stream", "$list/1/boots",
	"/api/v1/boots/1", "/api/v1/boots/1/console", "/api/v1/runs/1", "/api/v1/runs/1/capture", "/api/v1/imports/1") {
	refused($lab->get($path), 404, qr/there is no/, "GET $path");
}
for my $path ("/../token", "/web/../../token", "/..%2ftoken", "/%2e%2e/token", "//token", "/token", "/lab.db",
	"/schema/001_lab.sql", "/web/index.html", "/experiments/../../token", "/\\..\\token", "/index.html%00.js") {
	my ($status, $reply) = raw("GET $path HTTP/1.1\r\nHost: localhost:$lab->{port}\r\nConnection: close\r\n\r\n");
	like($status, qr/^40[04]$/, "GET $path: $status");
	unlike($reply, qr/\Q$token\E/, "and no token");
}

# Paging.
refused($lab->get("$list?limit=$_"), 400, qr/from 1 to 500/, "limit=$_") for "0", "501", "-1", "x", "1e2";
refused($lab->get("$list?after=x"), 400, qr/number/, "after=x");
is($lab->get("$list?limit=500")->{status}, 200, "limit=500");
refused($lab->request("POST", $list, "{}", "Idempotency-Key" => "k" x 129), 400, qr/128/, "a long Idempotency-Key");

is($lab->value("SELECT count(*) FROM experiment"), 0, "nothing was stored");
is($lab->value("SELECT count(*) FROM import"), 0, "and nothing was queued");
unlike($lab->log, qr/\Q$token\E/, "the log does not show the token");
is($lab->stop, 0, "it ends well");
done_testing;
