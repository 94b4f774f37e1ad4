package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"time"
)

// tarGz returns an archive of the files, owned by root and with the time when, as tar and gzip -n
// make it.
func tarGz(files tree, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	archive := tar.NewWriter(compressed)

	for _, f := range files {
		header := &tar.Header{
			Format: tar.FormatUSTAR, Typeflag: tar.TypeReg, Name: f.path,
			Mode: int64(f.mode.Perm()), Size: int64(len(f.data)),
			ModTime: when, Uname: "root", Gname: "root",
		}

		if f.mode.IsDir() {
			header.Typeflag = tar.TypeDir
		}
		if f.isLink() {
			header.Typeflag, header.Linkname, header.Size = tar.TypeSymlink, string(f.data), 0
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if f.isLink() {
			continue
		}
		if _, err := archive.Write(f.data); err != nil {
			return nil, err
		}
	}

	if err := archive.Close(); err != nil {
		return nil, err
	}

	err := compressed.Close()
	return b.Bytes(), err
}

// zipped returns a zip archive of the files, of the time when.
func zipped(files tree, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: when}
		header.SetMode(f.mode)
		w, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}

	err := archive.Close()
	return b.Bytes(), err
}

// gzipped returns data as gzip -9n does: without a name and a time.
func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	w.Write(data)                                         // to memory: cannot fail
	w.Close()
	return b.Bytes()
}
