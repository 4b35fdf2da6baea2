import { execFileSync } from 'node:child_process'

/** Makes a named pipe: opening it as a file waits until another process writes to it. */
export function makePipe(path: string): string {
  execFileSync('mkfifo', [path])
  return path
}
