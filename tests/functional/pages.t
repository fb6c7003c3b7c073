#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# The dashboard: every page and asset is served with a strict policy, and nothing comes from outside.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Labd;
use Test::More;

my $lab = Labd->new;
my %type = (html => "text/html; charset=utf-8", css => "text/css; charset=utf-8", js => "text/javascript; charset=utf-8",
	svg => "image/svg+xml", json => "application/json");

sub check {
	my ($path, $type) = @_;
	my $r = $lab->get($path);
	is($r->{status}, 200, "GET $path");
	is($r->{headers}{"content-type"}, $type, "$path: $type");
	my $policy = $r->{headers}{"content-security-policy"} // "";
	like($policy, qr/^default-src 'none'; /, "$path: the policy starts from nothing");
	unlike($policy, qr/unsafe|\*|http|data:/, "$path: and allows only our own");
	is($r->{headers}{"x-content-type-options"}, "nosniff", "$path: nosniff");
	is($r->{headers}{"referrer-policy"}, "no-referrer", "$path: no-referrer");
	is($r->{headers}{"access-control-allow-origin"}, undef, "$path: for no other origin");
	ok($r->{headers}{"cache-control"}, "$path: Cache-Control");
	return $r;
}

my @files = grep { $_ ne "page.html" } map { s{.*/}{}r } glob "$Labd::top/web/*";
ok(@files > 10, "there are " . @files . " files");
my %seen;
for my $file (@files) {
	my ($suffix) = $file =~ /\.(\w+)$/;
	my $r = check("/$file", $type{$suffix});
	open my $fh, "<:raw", "$Labd::top/web/$file" or die "$file: $!";
	local $/;
	is($r->{content}, scalar <$fh>, "$file: as in the tree");
	is($lab->get("/$file", "If-None-Match" => $r->{headers}{etag})->{status}, 304, "$file: 304 for its ETag");
	# The one URL is a name, the SVG namespace.
	my $text = $r->{content} =~ s{http://www\.w3\.org/2000/svg}{}gr;
	unlike($text, qr{(?:https?:|["'(]\s*)//\w}i, "$file: no outside address") if $suffix ne "json";
	if ($suffix eq "js") {
		unlike($text, qr/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/, "$file: data never becomes markup");
	}
	$seen{$_}++ for $text =~ m{(?:src|href|from)\s*=?\s*"(/[\w.-]+\.\w+)"}g;
}

# Every page is the skeleton with a title and a script of its own; only what plots loads d3.
my %page = ("/" => ["Experiments", "list"], "/schedule" => ["Schedule", "schedule"], "/experiments/1" => ["Experiment", "experiment"],
	"/experiments/1/live" => ["Live", "live"], "/compare" => ["Compare", "compare"], "/boots/1" => ["Boot", "boot"], "/builds" => ["Builds", "builds"],
	"/builds/kvm-base" => ["Build", "build"], "/machines" => ["Machines", "machines"], "/machines/qemu" => ["Machine", "machine"], "/sql" => ["SQL", "sql"]);
for my $path (sort keys %page) {
	my ($title, $script) = @{ $page{$path} };
	my $r = check($path, $type{html});
	my $text = $r->{content};
	is($lab->get($path, "If-None-Match" => $r->{headers}{etag})->{status}, 304, "$path: 304 for its ETag");
	like($text, qr{<title>$title · labd</title>}, "$path: its title");
	like($text, qr{<script type="module" src="/$script\.js"></script>\n</head>}, "$path: its script");
	is($text =~ m{src="/d3\.js"} ? 1 : 0, $script eq "experiment" ? 1 : 0, "$path: d3 only where it plots");
	unlike($text, qr/\@\w+\@/, "$path: nothing left to fill in");
	unlike($text, qr/<style|\sstyle=|\son\w+=|javascript:/i, "$path: no inline style or handler");
	unlike($text, qr/<script(?![^>]*\ssrc=)/i, "$path: no inline script");
	unlike($text, qr{(?:https?:|["'(]\s*)//\w}i, "$path: no outside address");
	like($text, qr/<html lang=/, "$path: says its language");
	like($text, qr/name="viewport"/, "$path: fits small screens");
	$seen{$_}++ for $text =~ m{(?:src|href)="(/[\w.-]+\.\w+)"}g;
}
is($lab->get("/page.html")->{status}, 404, "the skeleton itself is no page");
like(check("/d3.js", $type{js})->{content}, qr{^// .*Copyright: 2010-2017, Mike Bostock.*THIS SOFTWARE IS PROVIDED.*\n!function}s, "d3 comes with its licence");
is($lab->get($_)->{status}, 200, "$_, which a page asks for, is there") for sort keys %seen;
is($lab->request("HEAD", "/", undef, Authorization => "", "Content-Type" => "")->{status}, 200, "HEAD /");

my $api = check("/api/v1/openapi.json", "application/json")->{json};
is($api->{openapi}, "3.0.3", "the API's description is OpenAPI");
for my $path (sort keys %{ $api->{paths} }) {
	my $real = $path =~ s/\{id\}/1/r =~ s/\{name\}/none/r;
	for my $method (sort keys %{ $api->{paths}{$path} }) {
		my $status = $lab->request(uc $method, $real, "", $method eq "post" ? (Authorization => "") : ())->{status};
		# The query of /sql is required.
		is($status, $method eq "post" ? 401 : $path =~ /\{(?:id|name)\}/ ? 404 : $path =~ /\/sql$/ ? 422 : 200, "$method $path is there");
	}
}

like($lab->get("/metrics")->{content}, qr/^# HELP labd_\w+ .+\n# TYPE labd_\w+ (?:gauge|counter)\n/, "metrics");
is($lab->get("/healthz")->{json}{status}, "ok", "health");
is_deeply($lab->get("/api/v1/experiments")->{json}, { experiments => [], next => undef }, "an empty list");
my ($code, $out) = $lab->labctl("list");
is("$code$out", "0", "labctl list of nothing");
($code, $out) = $lab->labctl("report", 1);
is($code, 1, "labctl report of nothing fails");
is($out, "labctl: there is no experiment 1\n", "with one clear sentence");
done_testing;
