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

my @files = map { s{.*/}{}r } glob "$Labd::top/web/*";
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
	if ($suffix eq "html") {
		unlike($text, qr/<style|\sstyle=|\son\w+=|javascript:/i, "$file: no inline style or handler");
		unlike($text, qr/<script(?![^>]*\ssrc=)/i, "$file: no inline script");
		like($text, qr/<html lang=/, "$file: says its language");
		like($text, qr/name="viewport"/, "$file: fits small screens");
	}
	if ($suffix eq "js") {
		unlike($text, qr/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/, "$file: data never becomes markup");
	}
	$seen{$_}++ for $text =~ m{(?:src|href|from)\s*=?\s*"(/[\w.-]+\.\w+)"}g;
}
is($lab->get($_)->{status}, 200, "$_, which a page asks for, is there") for sort keys %seen;

check($_, $type{html}) for "/", "/experiments/1", "/boots/1", "/builds", "/machines";
is($lab->request("HEAD", "/", undef, Authorization => "", "Content-Type" => "")->{status}, 200, "HEAD /");

my $api = check("/api/v1/openapi.json", "application/json")->{json};
is($api->{openapi}, "3.0.3", "the API's description is OpenAPI");
for my $path (sort keys %{ $api->{paths} }) {
	(my $real = $path) =~ s/\{id\}/1/;
	for my $method (sort keys %{ $api->{paths}{$path} }) {
		my $status = $lab->request(uc $method, $real, "", $method eq "post" ? (Authorization => "") : ())->{status};
		is($status, $method eq "post" ? 401 : $path =~ /\{id\}/ ? 404 : 200, "$method $path is there");
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
