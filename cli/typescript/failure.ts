import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * What an import threw, in one line with file and line of the application where there is one. A line that ends with a colon
 * brings the list that it begins.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return `it throws ${String(error)}`
  const [message = '', ...rest] = error.message.split('\n')
  // A mistake that was found while the file was translated has its place in front.
  if (/^\S+:\d+:\d+: /.test(message)) return message
  const found = place(error.stack ?? '')
  const at = found === undefined ? '' : ` (${found})`
  if (!message.endsWith(':')) return message + at
  return [`${message.slice(0, -1)}${at}:`, ...rest.filter((line) => line.startsWith('  '))].join('\n')
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
