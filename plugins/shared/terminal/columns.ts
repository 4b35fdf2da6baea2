/** Lays rows out in columns, two spaces apart, one line each. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const last = Math.max(0, ...rows.map((row) => row.length - 1))
  const widths = Array.from({ length: last }, (_, at) => Math.max(0, ...rows.map((row) => row[at]?.length ?? 0)))
  // A column that is empty takes up no space.
  const pad = (row: readonly string[]) => widths.map((width, at) => (row[at] ?? '').padEnd(width && width + 2))
  return rows.map((row) => [...pad(row), row[last] ?? ''].join('').trimEnd())
}
