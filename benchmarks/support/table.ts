/** Writes a Markdown table; the first column is text, the others are numbers. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(header), line(header.map((_, i) => (i === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n')
}

export function section(title: string, note: string, header: readonly string[], rows: readonly string[][]): string {
  return `## ${title}\n\n${note}\n\n${table(header, rows)}\n`
}

export const percent = (value: number) => (Number.isNaN(value) ? '–' : `${Math.round(value * 100)} %`)
export const decimals = (digits: number) => (value: number) => (Number.isNaN(value) ? '–' : value.toFixed(digits))

/** The day of a measurement, shown above each table, since tables are measured one by one. */
export const today = () => new Date().toISOString().slice(0, 10)
