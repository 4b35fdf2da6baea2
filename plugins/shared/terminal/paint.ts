// `bright` ends a surrounding `dim`.
const codes = { bold: 1, bright: 22, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

/** Colours a string, or leaves it as it is. */
export type Paint = (color: keyof typeof codes, text: string) => string

const plain: Paint = (_color, text) => text
const colored: Paint = (color, text) => (text === '' ? '' : `\x1b[${codes[color]}m${text}\x1b[0m`)

/** https://no-color.org: any value that is not empty turns colours off, whatever other settings say. */
export function paintFor(isTerminal: boolean, { NO_COLOR, FORCE_COLOR, TERM } = process.env): Paint {
  if (NO_COLOR) return plain
  const wants = FORCE_COLOR ? FORCE_COLOR !== '0' : isTerminal && TERM !== 'dumb'
  return wants ? colored : plain
}
