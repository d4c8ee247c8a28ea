"""Data files: formats, types of columns, and one line for everything that cannot be read."""

import gzip
import io
import sys
import types

import pandas as pd
import polars as pl
import pytest
from cli_runs import answer, refusal, run, table, write_csv

from baconlogic import Tree
from baconlogic.cli import _tables as tables
from baconlogic.cli import main
from baconlogic.cli._options import Formats
from baconlogic.cli._run import RefusedError


def read(tmp_path, text, name="data.csv", **options):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return tables.read(path, **options)


def test_columns_are_typed_by_all_of_their_cells(tmp_path):
    rows = "".join(f"{i},{i}.5,true,x\n" for i in range(2000))
    frame = read(tmp_path, f"whole,part,flag,word\n{rows}7,8,False,9\n")
    assert [str(kind) for kind in frame.schema.values()] == ["Int64", "Float64", "Boolean", "String"]


def test_columns_are_what_pandas_reads(tmp_path):
    text = 'a,b,c,d,e\n1, 2,"x,1",TRUE,\n-3e2,,NA,False,null\nNaN,5," y",true,?\n'
    ours, theirs = read(tmp_path, text), pd.read_csv(io.StringIO(text), na_values=["?"])
    assert ours.columns == list(theirs.columns)
    for name in ours.columns:
        assert [None if pd.isna(value) else value for value in theirs[name]] == ours[name].to_list()


def test_other_words_may_mean_missing(tmp_path):
    assert read(tmp_path, "a,b\n-9,NA\n1,\n", missing="-9")["a"].to_list() == [None, 1]
    assert read(tmp_path, "a,b\n-9,NA\n1,\n", missing="-9")["b"].to_list() == ["NA", None]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_found_in_the_header(tmp_path, delimiter):
    text = f'"a,;b"{delimiter}c\n1{delimiter}2\n'
    assert read(tmp_path, text, "data.txt").to_dicts() == [{"a,;b": 1, "c": 2}]


def test_byte_order_marks_blank_lines_and_unnamed_columns_do_no_harm(tmp_path, capsys):
    assert read(tmp_path, b"\xef\xbb\xbfa,b\r\n1,\r\n\r\n3,4\r\n\r\n").to_dict(as_series=False) == {
        "a": [1, 3],
        "b": [None, 4],
    }
    assert read(tmp_path, ",a\n0,5\n1,6\n").to_dict(as_series=False) == {"a": [5, 6]}
    assert "without a name" in capsys.readouterr().err


def test_a_table_without_names_is_noticed(tmp_path, capsys):
    read(tmp_path, "1,2.5,x\n3,4.5,y\n")
    assert "looks like values: 1, 2.5, x" in capsys.readouterr().err
    read(tmp_path, "0,1,y\n3,4.5,y\n")  # pixels may have such names
    assert capsys.readouterr().err == ""


def test_a_last_line_that_is_cut_short_counts_with_what_it_has(tmp_path, capsys):
    assert read(tmp_path, "a,b\n1,2\n3").to_dict(as_series=False) == {"a": [1, 3], "b": [2, None]}
    assert "the last line is cut short" in capsys.readouterr().err


def test_every_format_gives_the_same_table(tmp_path, monkeypatch):
    frame = pl.DataFrame(table(20))
    frame.write_csv(tmp_path / "t.csv")
    frame.write_csv(tmp_path / "t.tsv", separator="\t")
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_ndjson(tmp_path / "t.jsonl")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    for name in ("t.csv", "t.tsv", "t.parquet", "t.jsonl", "t.csv.gz"):
        assert tables.read(tmp_path / name).equals(frame), name
        pipe = types.SimpleNamespace(buffer=io.BytesIO((tmp_path / name).read_bytes()))
        monkeypatch.setattr(sys, "stdin", pipe)
        assert tables.read(tables.Path("-"), Formats(name.split(".")[1])).equals(frame), name


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b"", "t.csv", "empty"),
        (b"a,b\n", "t.csv", "no rows"),
        (b"a,b,a\n1,2,3\n", "t.csv", "two columns are called 'a'"),
        (b"1,2.5,1\n1,2,3\n", "t.csv", "put a line of names on top"),
        (b"a,b\n1,2\n3\n4,5\n", "t.csv", "line 3: expected 2 values as in the header, got 1"),
        (b"a,b\n1,2\n3,4,5\n", "t.csv", "line 3: expected 2 values as in the header, got 3"),
        (b"a,b\n1,caf\xe9\n", "t.csv", "line 2: this is not UTF-8 text; convert it"),
        (b"\xff\xfea\0", "t.csv", "UTF-16"),
        (b"\x01\0\x02\xff" * 50, "t.csv", "binary"),
        (b"PK\x03\x04", "t.csv", "Excel"),
        (b"\x1f\x8bnothing", "t.csv.gz", "cannot be unpacked"),
        (b"PAR1 and more", "t.parquet", "not a Parquet file"),
        (b"PAR1 and more", "t.csv", "--format parquet"),
        (b"not json\n", "t.jsonl", "not JSON lines"),
        (b'{"a": [1]}\n', "t.jsonl", "holds lists"),
        (b"a,b\n1,2\n", "t.xls", "--format"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, content, name, said):
    with pytest.raises(RefusedError, match=said):
        read(tmp_path, content, name)


def test_pipes_go_in_and_out(tmp_path):
    Tree.parse("SC(a[0 at 0, 1 at 10], b)").save(tmp_path / "tree.json")
    lines = answer("predict", "tree.json", "-", folder=tmp_path, given="a,b\n10,1\n0,0\n")
    assert lines == "prediction,truth\ntrue,1.0\nfalse,0.0\n"
    assert answer("predict", "tree.json", "-", "--format", "jsonl", folder=tmp_path, given='{"a": 10, "b": 1}\n')
    assert "empty" in refusal("predict", "tree.json", "-", folder=tmp_path, given="")


def test_missing_files_and_folders_are_said_in_one_line(tmp_path):
    Tree.parse("SC(a, b)").save(tmp_path / "tree.json")
    (tmp_path / "folder.csv").mkdir()
    assert "no such file" in refusal("predict", "tree.json", "none.csv", folder=tmp_path)
    assert "this is a folder" in refusal("predict", "tree.json", "folder.csv", folder=tmp_path)


def test_rows_without_a_label_are_left_out(tmp_path):
    Tree.parse("SC(a, b)").save(tmp_path / "tree.json")
    write_csv(tmp_path / "data.csv", {"a": [1, 0, 1], "b": [1, 0, 1], "y": ["yes", "no", ""]})
    code, out, err = run("evaluate", "tree.json", "data.csv", "-t", "y", "--label", "yes", folder=tmp_path)
    assert (code, err) == (0, "note: 1 row without 'y' is left out\n")
    assert out.startswith("2 rows;")


def test_missing_values_without_a_truth_are_refused_with_what_to_do(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Tree.parse("SC(a[0 at 0, 1 at 1], b)").save("tree.json")
    write_csv(tmp_path / "data.csv", {"a": [1, "NA"], "b": [1, 0]})
    assert main(["predict", "tree.json", "data.csv"]) == 1
    assert "--criterion 'COLUMN=missing 0.5'" in capsys.readouterr().err
    assert main(["edit", "tree.json", "--criterion", "a=missing 0.5", "-o", "new.json"]) == 0
    assert main(["predict", "new.json", "data.csv"]) == 0


@pytest.mark.parametrize("problem", [MemoryError(), RuntimeError("odd\nthing"), PermissionError(13, "no", "x.csv")])
def test_whatever_goes_wrong_is_one_line(tmp_path, capsys, monkeypatch, problem):
    def fail(*_):
        raise problem

    monkeypatch.setattr(tables, "_bytes", fail)
    Tree.parse("SC(a, b)").save(tmp_path / "tree.json")
    assert main(["predict", str(tmp_path / "tree.json"), "x.csv", "--format", "csv"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("baconlogic: ")
    assert said.count("\n") == 1
    assert "memory" in said or "odd thing" in said or "permission denied" in said
