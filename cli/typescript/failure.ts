import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

interface BuildMessage {
  readonly text: string
  readonly location: { readonly file: string; readonly line: number; readonly column: number } | null
}

/** What an import threw, in one line with file and line of the application where there is one. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return `it throws ${String(error)}`
  const { errors } = error as { errors?: readonly BuildMessage[] }
  const first = Array.isArray(errors) ? errors[0] : undefined
  if (first?.location)
    return `${first.location.file}:${first.location.line}:${first.location.column + 1}: ${first.text}`
  const message = error.message.split('\n')[0]!
  const found = place(error.stack ?? '')
  // A message of esbuild that crossed threads has lost its parts, and says it all itself.
  const inText = /^.*?(\S+:\d+:\d+): ERROR: (.*)$/m.exec(error.message)
  if (inText !== null) return `${inText[1]}: ${inText[2]}`
  return found === undefined ? message : `${message} (${found})`
}

/** The first frame that is neither Node.js nor a package; syntax errors have their file in the first line. */
function place(stack: string): string | undefined {
  for (const line of stack.split('\n')) {
    const frame = /(?:^|\(|at (?:async )?)((?:file:\/\/)?\/[^()\n]*?:\d+(?::\d+)?)\)?$/.exec(line.trim())?.[1]
    if (
      frame === undefined ||
      frame.includes('/node_modules/') ||
      frame.includes('/dist/cli/') ||
      frame.includes('/dist/chunks/')
    )
      continue
    return frame.startsWith('file:') ? fromUrl(frame) : relative(process.cwd(), frame)
  }
  return undefined
}

function fromUrl(frame: string): string {
  const [, url = '', at = ''] = /^(.*?)((?::\d+){1,2})$/.exec(frame) ?? []
  return relative(process.cwd(), fileURLToPath(url)) + at
}
