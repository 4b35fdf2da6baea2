import type { ChildProcess } from 'node:child_process'

/** Resolves as soon as a condition is true; rejects when that takes too long. */
export async function until(holds: () => boolean | Promise<boolean>, what: string, ms = 40_000): Promise<void> {
  const giveUpAt = performance.now() + ms
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`not within ${ms} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** A promise that resolves when it is opened. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open!: () => void
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

let serial = 0
/** A name that no other test has. */
export const freshName = (what: string) => `${what}-${process.pid}-${++serial}`

/** Asks a process of a test to end. One that was killed, or ends by itself, may have left its pipe a moment ago. */
export function askToEnd(child: ChildProcess): void {
  if (child.connected) child.send('end', () => {})
}
