import { constants } from 'node:os'
import { relative } from 'node:path'
import type { PluginNode } from '../../kernel/inspection.ts'
import { aligned } from '../../plugins/shared/terminal/columns.ts'
import { clean } from '../../plugins/shared/terminal/lines.ts'
import type { Paint } from '../../plugins/shared/terminal/paint.ts'
import { printTree } from '../../plugins/shared/terminal/tree.ts'
import { packageName } from '../package.ts'
import type { Ended } from '../process/child.ts'
import type { Listening } from './child.ts'
import type { Crash } from './protocol.ts'

/** All messages of the development server to the developer. */
export type Report = ReturnType<typeof reportTo>

/** Makes a report. @param quiet Whether to omit the optional messages. */
export function reportTo(
  note: (line: string) => void,
  paint: Paint,
  startFile: string,
  folder: string,
  quiet: boolean,
) {
  // Notes are dim; links, and messages that the developer must read, are not.
  const stress = (color: 'cyan' | 'red', text: string) => paint('bright', paint(color, text))
  const alarm = (line: string) => note(stress('red', line))
  let shownUrl = ''
  let shownPages = ''
  const talk = quiet ? () => {} : note
  const goesOn = (serves: boolean) =>
    `${serves ? 'the previous version keeps serving; ' : ''}the next change starts a new attempt`
  return {
    starting: (runtime: string) => talk(`${startFile} on ${runtime}`),
    /** A version listens, `ms` milliseconds after the start, or after the change that led to it. */
    serving(news: Listening, ms: number, changed: readonly string[] | undefined) {
      if (changed === undefined) talk(printTree(timesOnly(news.plugins)))
      else talk(`restarted in ${ms} ms (${listed(changed, folder)})`)
      if (news.url !== shownUrl) talk(stress('cyan', news.url) + (changed === undefined ? ` (ready in ${ms} ms)` : ''))
      shownUrl = news.url
      const pages = aligned(
        news.pages.map(({ what, path }) => [`  ${what}`, stress('cyan', new URL(path, news.url).href)]),
      ).join('\n')
      if (pages !== '' && pages !== shownPages) talk(pages)
      shownPages = pages
    },
    /** A port was requested, but the application has another one. */
    otherPort: (asked: number, port: number) =>
      note(
        `--port ${asked} is in the environment as PORT, but the application listens on ${port} because of its option "port"`,
      ),
    /** A version does not start; `serves` says whether the previous one continues. */
    notStarted: (why: Ended | string, serves: boolean) =>
      alarm(
        `${startFile} did not start: ${typeof why === 'string' ? firstLine(why) : endedBy(why)}; ${goesOn(serves)}`,
      ),
    /** The same for a failure that it has shown itself; `again` is the same failure of the previous version, which is not shown twice. */
    failed: (again: Crash | undefined, serves: boolean) =>
      alarm(
        `${startFile} did not start${again === undefined ? '' : `, as before: ${crashed(again)}`}; ${goesOn(serves)}`,
      ),
    /** A version that was running has ended. */
    ended: (why: Ended) => alarm(`${startFile}: ${endedBy(why)}; the next change starts it again`),
    silent: (seconds: number, serves: boolean) =>
      talk(
        `${startFile} has run for ${seconds} s, and no server of "${packageName}" listens: does it await something that never settles? A server that belongs to another package, or to another copy of this one, is not seen.` +
          (serves ? ' The previous version keeps serving.' : ''),
      ),
    forced: (ms: number) => note(`${startFile} did not exit within ${ms} ms and was killed`),
    /** The application has a port that two versions cannot have at the same time. */
    alone: () =>
      note(
        `${startFile} opens a port while it is loaded, but the previous version holds that port until it exits. From now on the previous version exits first. To avoid this, open the port after listen()`,
      ),
    /** Files that change whenever the application starts. */
    repeated: (files: readonly string[]) =>
      note(
        `${listed(files, folder)}: every start of the application changes these files, which restarts it again. Write such files to a folder outside the sources`,
      ),
    exhausted: (error: Error) =>
      note(`the system cannot watch more folders (${error.message}): the rest is polled every 300 ms, as with --poll`),
  }
}

const firstLine = (text: string) => clean(text.split('\n')[0]!)

const crashed = ({ said, place }: Crash) => firstLine(said) + (place === undefined ? '' : ` (${clean(place)})`)

function endedBy({ code, signal }: Ended): string {
  if (signal !== null) return `it was terminated by ${signal}`
  if (code === null) return 'it could not be started'
  if (code === 0) return 'it exited on its own with code 0'
  // Node.js ends with this code if the top level of a module is waiting and no event is left.
  if (code === 13) return 'it awaits something that never settles (code 13)'
  const name = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0]
  return name === undefined ? `it exited with code ${code}` : `it exited with code ${code} (${name})`
}

/** Lists the first few files: a checkout changes hundreds. */
function listed(files: readonly string[], folder: string): string {
  const names = files.slice(0, 3).map((file) => relative(folder, file))
  return files.length > names.length ? `${names.join(', ')} and ${files.length - names.length} more` : names.join(', ')
}

/** The tree with nothing but times: the contributions of plugins are in `server.printPlugins()`. */
const timesOnly = (node: PluginNode): PluginNode => ({ ...node, ...unshown, children: node.children.map(timesOnly) })
const unshown = { options: [], services: [], middlewares: [], hooks: [], routes: [], notes: [] }
