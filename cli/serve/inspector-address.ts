import { existsSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { requestInspector } from '../../plugins/shared/development/inspector-request.ts'
import { processStore } from '../../plugins/shared/development/process-report.ts'
import { type HandoverWriter, setHandover } from '../../plugins/shared/environment/handover.ts'
import { messageOf, safely } from '../../plugins/shared/values/safely.ts'
import { replaceFile } from '../text-file.ts'

const fileIn = (folder: string) => join(folder, 'node_modules/.cache/framework/inspector.json')

/**
 * Writes the address of a development server's inspector, with its token, for commands of the same user beside it. Where the file cannot be
 * written, they find no page, and the server has its own all the same.
 */
export const publishInspector = (folder: string, address: URL): void =>
  safely(() => {
    const text = JSON.stringify({ address, folder, pid: process.pid })
    if (existsSync(join(folder, 'node_modules'))) replaceFile(fileIn(folder), text, 0o600)
  })

const readFileIn = (folder: string) =>
  JSON.parse(readFileSync(fileIn(folder), 'utf8')) as { address: string; folder: string; pid: number }

/** Removes the file, unless it is that of another server. */
export const withdrawInspector = (folder: string): void =>
  safely(() => (readFileIn(folder).pid === process.pid ? rmSync(fileIn(folder)) : undefined))

/**
 * Lets the inspector of the project's development server show the work of this process. Returns the address of its page; `undefined`
 * without such a server, or with one that has TLS, whose certificate is often the developer's own.
 */
export function joinInspector(folder: string, runs: string, note: (line: string) => void): string | undefined {
  const page = pageIn(folder, runs, note)
  if (page === undefined) return undefined
  const writerOf = writersTo(page, () => pageIn(folder, runs))
  setHandover({ open: (store) => (['inspector', processStore].includes(store) ? writerOf(store) : nowhere) })
  return page.href
}

const nowhere: HandoverWriter = { set() {}, delete() {} }

type Page = { readonly href: string; readonly headers: Readonly<Record<string, string>> }

const refused = 'the inspector does not show this process, which may not ask whether its server runs'

/** The page in the file. Notes why it is not known whether its server runs: Deno without --allow-run. */
function pageIn(folder: string, runs: string, note?: (line: string) => void): Page | undefined {
  try {
    const { address, folder: of, pid } = readFileIn(folder)
    const page = new URL(address)
    const token = page.searchParams.get('token')
    // Work trees of one repository may share their packages.
    if (of !== folder || page.protocol !== 'http:' || !token) return undefined
    // Throws if a server that was killed has left the file.
    process.kill(pid, 0)
    page.search = ''
    requestInspector({ token, port: page.port, runs })
    return { href: page.href, headers: { cookie: `inspector${page.port}=${token}`, origin: page.origin } }
  } catch (error) {
    if ((error as Error).name === 'NotCapable') note?.(`${refused}: ${messageOf(error)}`)
    return undefined
  }
}

/** Milliseconds for which an entry waits for a server that is away; one that restarts is back in less than a second. */
const patience = 2_000
const maxWaiting = 500

/** `again` reads the page again: a server that was restarted by hand has another token, and maybe another port. */
function writersTo(page: Page, again: () => Page | undefined): (store: string) => HandoverWriter {
  let waiting = 0
  let isAway = false
  let sent = Promise.resolve()
  /** Resolves to whether it was received. A server that a debugger holds does not respond, and one that ends breaks its response off. */
  const send = (store: string, entry: string) =>
    new Promise<boolean>((resolve) => {
      const signal = AbortSignal.timeout(patience)
      // Not `fetch`, nor an agent of all: they send it to the proxy of the environment, with the token.
      request(`${page.href}/api/entry`, { method: 'POST', headers: page.headers, agent: false, signal }, (response) =>
        response.on('close', () => resolve(response.complete && response.statusCode !== 401)).resume(),
      )
        .on('error', () => resolve(false))
        .end(JSON.stringify({ process: process.pid, store, entry }))
    })
  const sendUntil = async (end: number, store: string, entry: string) => {
    while (!isAway || performance.now() < end) {
      isAway = !(await send(store, entry))
      if (!isAway) break
      page = again() ?? page
      await pause(100)
    }
    waiting--
  }
  return (store) => ({
    set(_id, entry) {
      if (waiting >= maxWaiting) return
      waiting++
      const end = performance.now() + patience
      sent = sent.then(() => sendUntil(end, store, entry))
    },
    delete() {},
    sent: () => sent,
  })
}
