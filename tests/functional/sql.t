#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# The SQL box: it reads, gives numbers back whole, ends soon, and can do nothing else.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Labd;
use Test::More;

my $lab  = Labd->new;
my $json = JSON::PP->new->utf8;

sub escape {
	my $text = shift;
	$text =~ s/([^A-Za-z0-9_.~-])/sprintf "%%%02X", ord $1/ge;
	return $text;
}

sub ask {
	my ($query, $more, %headers) = @_;
	return $lab->get("/api/v1/sql?query=" . escape($query) . ($more // ""), %headers);
}

sub rows {
	my $r = ask(@_);
	return $r->{status} == 200 ? $r->{json}{rows} : "$r->{status} $r->{content}";
}

sub refused {
	my ($query, $pattern, $name, $more) = @_;
	my $r = ask($query, $more);
	is($r->{status}, 422, "$name: 422") or diag $r->{content};
	like($r->{json}{detail} // "", $pattern, "$name: " . ($r->{json}{detail} // ""));
}

# Two experiments, one of which has events.
sub insert {
	my ($file, $sql) = @_;
	system("sqlite3", "$lab->{data}/$file", $sql) == 0 or die "sqlite3: $sql";
}
insert("lab.db", "INSERT INTO experiment (id, name, machine, subject, state, spec, plan, plan_sha256, idempotency_key, created) " .
	"VALUES ($_, 'e$_', 'qemu', 'kvm', 'done', '{}', '{}', '', 'hidden-key-$_', 1)") for 1, 2;
mkdir "$lab->{data}/events";
insert("events/1.db", "CREATE TABLE ev_kvm_x (run, v); INSERT INTO ev_kvm_x VALUES (1, 7), (1, 8)");

my $r = ask("SELECT 1 AS one, 'a' AS two -- and a comment");
is($r->{status}, 200, "a query");
is_deeply($r->{json}{columns}, [ "one", "two" ], "its columns");
is_deeply($r->{json}{rows}, [ [ 1, "a" ] ], "its row");
ok(!$r->{json}{truncated}, "nothing is missing");
is($r->{json}{why}, undef, "so there is no why");
like($r->{json}{elapsed_ms}, qr/^\d+$/, "it took so long");

# Values.
$r = ask("SELECT 9007199254740992, 9007199254740993, -9223372036854775808, 0.1, 1e300 * 1e300, NULL, x'00ff', CAST(x'41ff' AS TEXT)");
like($r->{content}, qr/\[9007199254740992,"9007199254740993","-9223372036854775808",0\.1,"inf",null,"00ff","41ff"\]/,
	"numbers keep their digits, bytes are hex") or diag $r->{content};
is_deeply(rows("SELECT 'ä' || char(0) || '\"'"), [ [ "\x{e4}\0\"" ] ], "text is text");
is_deeply(rows("SELECT '1+1', '%'"), [ [ "1+1", "%" ] ], "escapes are taken back");
is($lab->get("/api/v1/sql?query=SELECT+1")->{json}{rows}[0][0], 1, "a plus is a space");

# The experiment.
is_deeply(rows("SELECT :experiment, sum(v) FROM events.ev_kvm_x", "&experiment=1"), [ [ 1, 15 ] ], "its events, and its number");
refused("SELECT * FROM events.ev_kvm_x", qr/no such table: events\.ev_kvm_x/, "events of no experiment");
refused("SELECT * FROM events.ev_kvm_x", qr/no such table/, "an experiment without events", "&experiment=2");
refused("SELECT :experiment", qr/:experiment/, ":experiment without one");
refused("SELECT :other", qr/:other/, "another parameter", "&experiment=1");
refused("SELECT 1", qr/no experiment 99/, "an experiment that is not there", "&experiment=99");
refused("SELECT 1", qr/number/, "an experiment that is no number", "&experiment=1x");
refused("SELECT 1", qr/json or csv/, "another format", "&format=xml");

# The documented queries are all answered.
for my $query (Labd::doc_queries()) {
	next if $query->{sql} =~ /events\.ev_/;
	$r = ask($query->{sql}, "&experiment=1");
	is($r->{status}, 200, "docs/sql.md: $query->{title}") or diag $r->{content};
}

# What is no reading.
my $writes = qr/can only read/;
refused("DELETE FROM experiment", $writes, "a delete");
refused("UPDATE experiment SET name = 'x'", $writes, "an update");
refused("INSERT INTO import (name, path, state, created) VALUES ('', '', 'queued', 1)", $writes, "an insert");
refused("CREATE TABLE t (a)", $writes, "a table");
refused("CREATE TEMP TABLE t (a)", $writes, "a temporary table");
refused("CREATE VIRTUAL TABLE temp.t USING fts5(a)", $writes, "a virtual table");
refused("SELECT trim('x', 'y')", qr/trim/, "a function that no clock ends");
refused("DROP TABLE experiment", $writes, "a drop");
refused("WITH a AS (SELECT 1) DELETE FROM experiment RETURNING *", $writes, "a delete that returns rows");
refused("ATTACH '/etc/passwd' AS p", $writes, "ATTACH");
refused("DETACH events", $writes, "DETACH", "&experiment=1");
refused("VACUUM INTO '/tmp/copy.db'", $writes, "VACUUM INTO");
refused("PRAGMA query_only = OFF", $writes, "PRAGMA");
refused("SELECT * FROM pragma_database_list", qr/./, "a pragma as a table");
refused("BEGIN", $writes, "a transaction");
refused("SELECT load_extension('x')", qr/./, "load_extension");
refused("SELECT fts3_tokenizer('simple')", qr/./, "fts3_tokenizer");
refused("SELECT * FROM sqlite_dbpage", qr/no such table/, "raw pages");
refused("SELECT * FROM dbstat", qr/no such table/, "dbstat");
refused("SELECT readfile('/etc/passwd')", qr/./, "readfile");
refused("SELECT 1; SELECT 2", qr/one statement/, "two statements");
refused("SELECT 1; DELETE FROM experiment", qr/one statement/, "a second that writes");
refused("", qr/empty/, "nothing");
refused("-- nothing", qr/empty/, "a comment");
refused("SELEC 1", qr/syntax error/, "a mistake has SQLite's own sentence");
refused("SELECT '" . "x" x 17000 . "'", qr/at most 16384 bytes/, "a long query");
is($lab->get("/api/v1/sql")->{status}, 422, "no query");
is($lab->get("/api/v1/sql?query=$_")->{status}, 400, "query=$_ is no text") for "%", "%zz", "%00", "%ff";

# What nobody may see.
refused("SELECT token FROM boot", qr/boot\.token/, "a boot's token");
refused("SELECT * FROM boot", qr/boot\.token/, "the same by a star");
refused("SELECT 1 FROM experiment WHERE idempotency_key LIKE 'h%'", qr/idempotency_key/, "a client's key");
is_deeply(rows("SELECT count(*) FROM v_experiment"), [ [ 2 ] ], "nothing was changed");

# What would never end, or be too large.
my $forever = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT";
$r = ask("$forever sum(i) FROM n");
is($r->{status}, 200, "an endless query ends");
ok($r->{json}{truncated}, "and says that it was cut");
like($r->{json}{why}, qr/5 seconds/, "by its time");
$r = ask("$forever i FROM n LIMIT 1000000000");
is(scalar @{ $r->{json}{rows} }, 10000, "1e9 rows are cut");
like($r->{json}{why}, qr/10000 rows/, "and that is said");
$r = ask("$forever hex(zeroblob(5000)) FROM n");
cmp_ok(length $r->{content}, "<", 9 << 20, "a large answer is cut");
like($r->{json}{why}, qr/8 MiB/, "and that is said");
cmp_ok(scalar @{ $r->{json}{rows} }, ">", 800, "behind whole rows");
$r = ask("$forever hex(randomblob(100000)) FROM n ORDER BY 1");
like($r->{json}{why} // $r->{content}, qr/256 MiB|5 seconds/, "a sort of everything ends: $r->{json}{why}");
refused("SELECT zeroblob(100000000)", qr/too big/, "a large value");
is_deeply(rows("$forever i FROM n LIMIT 10000")->[-1], [10000], "10000 rows are not too many");

# CSV.
$r = ask("SELECT 'a,b' AS \"x\"\"y\", 'c\"d' AS e, NULL AS f, 9007199254740993 AS g, x'0a' AS h, 'l' || char(10) AS i", "&format=csv");
is($r->{content}, qq{"x""y",e,f,g,h,i\r\n"a,b","c""d",,9007199254740993,0a,"l\n"\r\n}, "CSV as RFC 4180 has it");
like($r->{headers}{"content-type"}, qr{^text/csv}, "with its type");
is($r->{headers}{"content-disposition"}, 'attachment; filename="query.csv"', "and a name");
$r = ask("$forever i FROM n", "&format=csv");
is($r->{headers}{"content-disposition"}, 'attachment; filename="query-truncated.csv"', "one that was cut says so in its name");
is(() = $r->{content} =~ /\r\n/g, 10001, "and has what came before");
$r = ask("$forever hex(zeroblob(5000)) FROM n", "&format=csv");
like($r->{content}, qr/\n0+\r\n\z/, "cut behind a whole row");

# Pages of others.
is(ask("SELECT 1", "", "Sec-Fetch-Site" => $_)->{status}, 403, "refused for a page: $_") for "cross-site", "same-site";
is(ask("SELECT 1", "", "Sec-Fetch-Site" => $_)->{status}, 200, "not for $_") for "same-origin", "none";
is($lab->request("POST", "/api/v1/sql", "{}")->{status}, 405, "only to GET");
unlike($lab->log, qr/hidden-key/, "the log has no key");
is($lab->stop, 0, "it ends well");
done_testing;
