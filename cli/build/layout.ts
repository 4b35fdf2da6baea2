import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { extname, join, relative, resolve, sep } from 'node:path'
import { CommandFailure } from '../failure.ts'
import { above, isInside, readManifest } from '../project/project.ts'
import { leftOutFolders, otherFolders, servedFolders } from '../project/sources.ts'
import { sourcesOf } from '../project/start-file.ts'

/** The paths of a project and its build. */
export interface Layout {
  /** The project, absolute. */
  readonly root: string
  /** The folder of its sources, absolute. */
  readonly sources: string
  /** The folder of the build, absolute. */
  readonly out: string
}

export type SourceFiles = ReturnType<typeof findSources>

const module = /\.[cm]?[jt]sx?$/i
const leftOut = /\.d\.[cm]?ts$|\.(test|spec|bench)\.[cm]?[jt]sx?$|\.tsbuildinfo$|~$|^[jt]sconfig.*\.json$/i
const secret =
  /\.(pem|key|p8|p12|pfx|pkcs12|jks|keystore|ppk|gpg|kdbx|env)$|\.env\.[^.]+$|^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/i
const tools = /\.config\.[cm]?[jt]s$|^(package(-lock)?|deno|biome|composer)\.jsonc?$/i

export const isModule = (file: string): boolean => module.test(file)

/** All files below the sources that belong to the running application. */
export function findSources({ root, sources, out }: Layout) {
  const isFlat = root === sources
  const modules: string[] = []
  const assets: string[] = []
  const secrets: string[] = []
  const read = (folder: string, served: boolean, above: readonly string[]) => {
    const real = realpathSync(folder)
    // A link that leads to a parent folder would be followed endlessly.
    if (above.includes(real)) return
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const { name } = entry
      const path = join(folder, name)
      if (name.startsWith('.') || path === out) continue
      // Only for links: after a stat of a pipe, Node.js before 24 does not resolve the next import.
      const found = entry.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : entry
      if (found === undefined)
        throw new CommandFailure(`${relative(root, path)} is a link to a file that does not exist`)
      if (found.isDirectory()) {
        const isLeftOut = (isFlat ? otherFolders : leftOutFolders).has(name)
        if (!isLeftOut) read(path, served || servedFolders.has(name), [...above, real])
        // A pipe or a socket would be read for ever.
      } else if (!found.isFile()) continue
      else if ((served || !isFlat) && !isModule(name) && secret.test(name)) secrets.push(path)
      else if (served) assets.push(path)
      else if (!leftOut.test(name) && !(isFlat && tools.test(name))) {
        if (isModule(name)) modules.push(path)
        // Sources at the top are next to all other files of a project: licences, lock files, pipelines.
        else if (!isFlat || /\.(graphql|gql|html?|hbs|handlebars|mustache|ejs|edge|mjml|json|sql)$/i.test(name))
          assets.push(path)
      }
    }
  }
  read(sources, false, [])
  return {
    /** The TypeScript and JavaScript modules, absolute. */
    modules: modules.sort(),
    /** Files that are copied unchanged: templates, SDL, JSON, pages. */
    assets: assets.sort(),
    /** Keys and files of secrets, which do not belong in a build: its folder ends up in images, caches and artefacts. */
    secrets: secrets.sort(),
  }
}

/** The ending of a built module. */
export function endingOf(file: string): '.js' | '.mjs' | '.cjs' {
  const ending = extname(file)
  return /^\.m/.test(ending) ? '.mjs' : /^\.c/.test(ending) ? '.cjs' : '.js'
}

/**
 * The place of a module in the build: the same as below the sources, so that globs, `import.meta.url` and the paths in
 * stack traces stay the same. A module outside them, imported through `../` or an alias, has a folder of its own.
 */
export function placeOf({ root, sources, out }: Layout, file: string): string {
  const fromRoot = relative(root, file).split(sep)
  const outside = ['_outside', ...fromRoot.map((part) => (part === '..' ? '_' : part))]
  const place = isInside(sources, file) ? relative(sources, file) : join(...outside)
  return resolve(out, place.slice(0, place.length - extname(file).length) + endingOf(file))
}

/** The place of a module in the default build of a project, relative to the project like the module. */
export function builtOf(root: string, file: string): string {
  const from = resolve(root, file)
  const sources = resolve(root, sourcesOf(relative(root, from)))
  return relative(root, placeOf({ root, sources, out: join(root, 'dist') }, from))
}

/** The place of a copied file in the build. */
export const placeOfAsset = ({ sources, out }: Layout, file: string): string => resolve(out, relative(sources, file))

/**
 * Refuses two files for one place, such as `a.ts` next to `a.js`: the one that is built last would overwrite the other.
 *
 * @throws CommandFailure, which names both.
 */
export function refuseClashes(layout: Layout, { modules, assets }: SourceFiles): void {
  const seen = new Map(assets.map((file) => [placeOfAsset(layout, file), file]))
  for (const file of modules) {
    const place = placeOf(layout, file)
    const other = seen.get(place)
    const named = (path: string) => relative(layout.root, path)
    if (other !== undefined) {
      throw new CommandFailure(
        `${named(other)} and ${named(file)} would both become ${named(place)}: rename or remove one`,
      )
    }
    seen.set(place, file)
  }
}

/** Whether Node.js would treat the `.js` files in a folder as modules: the nearest `package.json` upwards decides that. */
export function isModuleScope(folder: string): boolean {
  const manifest = above(folder)
    .map((one) => join(one, 'package.json'))
    .find((file) => existsSync(file))
  return manifest !== undefined && readManifest(manifest).type === 'module'
}
