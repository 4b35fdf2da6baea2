import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { requestInspector } from '../../plugins/shared/development/inspector-request.ts'
import { type HandoverWriter, setHandover } from '../../plugins/shared/environment/handover.ts'
import { safely } from '../../plugins/shared/values/safely.ts'
import { replaceFile } from '../text-file.ts'

const fileIn = (folder: string) => join(folder, 'node_modules/.cache/framework/inspector.json')

/** Writes the address of a development server's inspector, with its token, for commands of the same user beside it. */
export function publishInspector(folder: string, address: URL): void {
  if (!existsSync(join(folder, 'node_modules'))) return
  replaceFile(fileIn(folder), JSON.stringify({ address, pid: process.pid }), 0o600)
}

export const withdrawInspector = (folder: string): void => rmSync(fileIn(folder), { force: true })

/**
 * Lets the inspector of the project's development server show the work of this process. Returns the address of its page; `undefined`
 * without such a server, or with one that has TLS, whose certificate is often the developer's own.
 */
export function joinInspector(folder: string): string | undefined {
  const page = safely(() => {
    const { address, pid } = JSON.parse(readFileSync(fileIn(folder), 'utf8')) as { address: string; pid: number }
    // Throws if a server that was killed has left the file.
    process.kill(pid, 0)
    return new URL(address)
  })
  const token = page?.searchParams.get('token')
  if (page?.protocol !== 'http:' || !token) return undefined
  page.search = ''
  requestInspector({ token, port: page.port })
  const writer = writerTo(page, token)
  setHandover({ open: (store) => (store === 'inspector' ? writer : { set() {}, delete() {} }) })
  return page.href
}

/** Attempts to send an entry, 0.1 s apart: a server that restarts is away for less than a second. */
const attempts = 20
const maxWaiting = 500

function writerTo(page: URL, token: string): HandoverWriter {
  const headers = { cookie: `inspector${page.port}=${token}`, origin: page.origin }
  let waiting = 0
  let sent = Promise.resolve()
  const send = async (entry: string) => {
    const body = JSON.stringify({ process: process.pid, entry })
    for (let attempt = 0; attempt < attempts; attempt++) {
      const response = await fetch(`${page.href}/api/entry`, { method: 'POST', headers, body }).catch(() => {})
      await (response?.arrayBuffer() ?? pause(100))
      if (response !== undefined) break
    }
    waiting--
  }
  return {
    set(_id, entry) {
      if (waiting >= maxWaiting) return
      waiting++
      sent = sent.then(() => send(entry))
    },
    delete() {},
    sent: () => sent,
  }
}
