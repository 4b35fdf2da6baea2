import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DoctorFinding } from '../../plugins/shared/doctor/check.ts'
import { manifest, packageFolder, packageName } from '../package.ts'
import { above, namesIn, readManifest } from '../project/project.ts'
import { nameOf, ownRuntime } from '../serve/runtime.ts'
import { isIn } from './versions.ts'
import type { ProjectCheck } from './view.ts'

/** The real folder of the package to which a name resolves from this folder, if it is in `node_modules`. */
function installed(from: string, name: string): string | undefined {
  const folders = above(from).map((folder) => join(folder, 'node_modules', name))
  const found = folders.find((folder) => existsSync(join(folder, 'package.json')))
  return found && realpathSync(found)
}

const manifestOf = (folder: string) => readManifest(join(folder, 'package.json'))
const versionOf = (folder: string) => String(manifestOf(folder).version)

/** The packages that the project itself depends on. */
const asked = (folder: string) => namesIn(manifestOf(folder), 'dependencies', 'devDependencies', 'optionalDependencies')

/** The finding for several copies of one package, with their users. */
function copies(name: string, users: readonly (readonly [user: string, folder: string])[]): DoctorFinding | undefined {
  const found = new Map<string, string>()
  for (const [user, folder] of users) {
    // A package that is itself a copy resolves to itself.
    const copy = user === packageName && name === packageName ? folder : installed(folder, name)
    if (copy !== undefined && !found.has(copy)) found.set(copy, user)
  }
  if (found.size < 2) return undefined
  const list = [...found].map(([copy, user]) => `${versionOf(copy)} at ${copy} (for ${user})`)
  return {
    problem: `there are ${found.size} copies of ${name}: ${list.join(', ')}`,
    remedy: `Make all of them require one version and install again; a package that uses ${name} should list it in peerDependencies`,
    about: name,
  }
}

export const packageChecks: readonly ProjectCheck[] = [
  {
    code: 'runtime.version',
    level: 'error',
    find({ folder }) {
      const runtime = ownRuntime()
      const version = process.versions[runtime] ?? process.versions.node
      const wanted = [
        [packageName, manifest.engines as Record<string, string>],
        ['package.json', (manifestOf(folder).engines ?? {}) as Record<string, string>],
      ] as const
      return wanted.flatMap(([who, engines]) => {
        const range = engines[runtime]
        if (typeof range !== 'string' || isIn(version, range) !== false) return []
        const remedy = `Install one of these versions, on every machine that runs the application`
        return [{ problem: `this is ${nameOf(runtime)} ${version}, but ${who} requires ${range}`, remedy }]
      })
    },
  },
  {
    code: 'package.version',
    level: 'warning',
    find({ folder }) {
      const names = asked(folder)
      return Object.entries(manifest.peerDependencies).flatMap(([name, range]) => {
        const copy = names.includes(name) ? installed(folder, name) : undefined
        if (copy === undefined || isIn(versionOf(copy), range) !== false) return []
        const problem = `${name} is installed in version ${versionOf(copy)}, but ${packageName} works with ${range}`
        return [{ problem, remedy: 'Install a version of that range', about: name }]
      })
    },
  },
  {
    code: 'package.two-copies',
    level: 'error',
    find({ folder, file }) {
      const names = asked(folder)
      const own = [
        ['the application', dirname(file)],
        // The real path, as for the others: Node.js may keep the links of a workspace.
        [packageName, realpathSync(packageFolder())],
      ] as const
      const users = names.flatMap((user) => {
        const at = user === packageName ? undefined : installed(folder, user)
        return at === undefined ? [] : [[user, at, manifestOf(at)] as const]
      })
      const shared = Object.keys(manifest.peerDependencies).filter((name) => names.includes(name))
      return [packageName, ...shared].flatMap((name) => {
        // A package's own dependency is intentionally a private copy, except for the framework, of which there must be one.
        const kinds = name === packageName ? ['dependencies', 'peerDependencies'] : ['peerDependencies']
        const others = users.filter(([, , its]) => namesIn(its, ...kinds).includes(name))
        const found = copies(name, [...own, ...others.map(([user, at]) => [user, at] as const)])
        if (found === undefined) return []
        return [name === packageName ? found : { ...found, level: 'warning' as const }]
      })
    },
  },
]
