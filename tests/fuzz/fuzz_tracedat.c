// SPDX-License-Identifier: GPL-2.0-only
/* A capture of any bytes: every format is resolved, every value of every record read. */
#include <stdint.h>

#include "capture/decode.h"
#include "capture/layout.h"

static struct event_layout *layouts[TRACEDAT_MAX_FORMATS];

static void read_values(const struct event_layout *layout, const struct page_record *record)
{
	static volatile uint8_t sink;
	const uint8_t *bytes;
	int64_t number;
	size_t size;

	for (size_t i = 0; i < layout->n_columns; i++) {
		const struct layout_column *column = &layout->columns[i];

		if (column->kind <= VALUE_64)
			layout_number(column, record->data, record->size, &number);
		else if (!layout_bytes(column, record->data, record->size, &bytes, &size) && size)
			sink ^= bytes[0] ^ bytes[size - 1];
	}
}

static void read_page(const struct tracedat_file *file, const uint8_t *page, size_t size)
{
	const struct tracedat_format *format;
	struct page_record record;
	struct page_walk walk;

	if (page_open(&walk, page, size))
		return;
	while (page_next(&walk, &record) > 0) {
		format = tracedat_find_format(file, record.data[0] | record.data[1] << 8);
		if (format && layouts[format - file->formats])
			read_values(layouts[format - file->formats], &record);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tracedat_file *file;
	char error[256];

	if (tracedat_parse(data, size, &file, error, sizeof(error)))
		return 0;
	for (size_t i = 0; i < file->n_formats; i++)
		event_layout_parse(&file->formats[i], &layouts[i]);
	for (size_t i = 0; i < file->n_spans; i++)
		for (uint64_t at = 0; at < file->spans[i].size; at += file->page_size) {
			uint64_t left = file->spans[i].size - at;

			read_page(file, file->spans[i].pages + at,
				  left < file->page_size ? left : file->page_size);
		}
	for (size_t i = 0; i < file->n_formats; i++) {
		event_layout_free(layouts[i]);
		layouts[i] = NULL;
	}
	tracedat_close(file);
	return 0;
}
