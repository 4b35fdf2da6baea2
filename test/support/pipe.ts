import { execFileSync } from 'node:child_process'

/** Makes a named pipe: whoever opens it as a file waits until someone writes to it. */
export function makePipe(path: string): string {
  execFileSync('mkfifo', [path])
  return path
}
