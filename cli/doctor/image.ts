import { realpathSync } from 'node:fs'
import { relative, sep } from 'node:path'
import type { DoctorFinding } from '../../plugins/shared/doctor/check.ts'
import { type ProjectCheck, type ProjectView, textIn } from './view.ts'

/** The folders that the plugins use: those that static serves, and those of storages on disk. */
const foldersOf = ({ server }: ProjectView) =>
  (server?.listing.plugins ?? []).flatMap(({ definition: { name }, settings }) => {
    if (name === 'static')
      return (settings as readonly { readonly root: string }[]).map(({ root }) => ({ path: root, ...served }))
    if (name !== 'storage') return []
    const { providers } = settings as { readonly providers: Readonly<Record<string, { readonly folder?: unknown }>> }
    return Object.entries(providers).flatMap(([name, { folder }]) =>
      typeof folder === 'string'
        ? [{ path: folder, purpose: `the objects of the storage "${name}"`, isWritten: true }]
        : [],
    )
  })

const served = { purpose: 'the files of the plugin static', isWritten: false }

/** The instructions of the image that runs, which is the last one; `undefined` without a Dockerfile. */
function runningImage(folder: string): readonly string[] | undefined {
  const text = textIn(folder, 'Dockerfile')
  if (text === '') return undefined
  const lines = text.replace(/^\s*#.*\n/gm, '').replace(/\\\r?\n/g, ' ')
  const stage = lines.split(/^\s*FROM\s/im).at(-1)!
  return stage.split('\n').map((line) => line.trim())
}

/** The sources of `COPY` and `ADD`, in either form, without options and without the destination. */
const sourcesOf = (line: string) =>
  (/^(?:COPY|ADD)\s+(.*)/i.exec(line)?.[1] ?? '')
    .split(/[\s,[\]"]+/)
    .filter((word) => word !== '' && !word.startsWith('--'))
    .slice(0, -1)
    .map((word) => word.replace(/^\.\/(?=.)|\/$/g, ''))

function findingFor(
  here: string,
  { path, purpose, isWritten }: ReturnType<typeof foldersOf>[number],
): DoctorFinding | undefined {
  const name = relative(here, path).split(sep).join('/')
  // The sources are in every image, as they are or built, and what is outside the project must be mounted.
  if (/^(src|dist)(\/|$)/.test(name) || name === '' || name.startsWith('..') || name.includes(':')) return undefined
  const lines = runningImage(here)
  if (lines === undefined) return undefined
  const workdir = lines.map((line) => /^WORKDIR\s+(\S+)/i.exec(line)?.[1]).findLast((one) => one !== undefined)
  const parts = name.split('/')
  const around = parts.map((_, i) => parts.slice(0, i + 1).join('/'))
  const mentions = (line: string) =>
    line.split(/[\s:,="[\]]+/).some((word) => word === name || word.endsWith(`/${name}`))
  const about = `the image of the Dockerfile, folder ${name}`
  const user = lines.map((line) => /^USER\s+(\S+)/i.exec(line)?.[1]).findLast((one) => one !== undefined)
  if (isWritten) {
    const isRoot = user === undefined || /^(root|0)(:|$)/.test(user)
    if (isRoot || lines.some((line) => mentions(line) && /^VOLUME\b|\bchown\b/i.test(line))) return undefined
    return {
      problem: `the image of the Dockerfile has no folder ${name} (${purpose}) that its user "${user}" may write`,
      remedy: `Add it before USER: COPY --from=build --chown=${user}:${user} … ./${name}, or RUN mkdir -p ${name} && chown ${user} ${name}, and a VOLUME for what must outlive the container`,
      about,
    }
  }
  const isCopied = (source: string) =>
    source === '.' || source === workdir || around.some((one) => source === one || source.endsWith(`/${one}`))
  if (lines.some((line) => sourcesOf(line).some(isCopied) || (/^VOLUME\b/i.test(line) && mentions(line))))
    return undefined
  return {
    problem: `the image of the Dockerfile does not have the folder ${name} (${purpose})`,
    remedy: `Add it to the last stage: COPY ${name} ./${name}`,
    about,
  }
}

export const imageChecks: readonly ProjectCheck[] = [
  {
    code: 'image.folder',
    level: 'warning',
    find(view) {
      const here = realpathSync(view.folder)
      return foldersOf(view).flatMap((folder) => findingFor(here, folder) ?? [])
    },
  },
]
