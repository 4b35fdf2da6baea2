import { existsSync, statSync } from 'node:fs'
import { join, posix, relative, resolve, sep } from 'node:path'
import { safely } from '../../plugins/shared/values/safely.ts'
import { entryFiles } from '../application/load.ts'
import { wrongUsage } from '../failure.ts'
import { findProject, isInside, lockFolder, type Project, testModule, typedPath } from '../project/project.ts'
import { textOf } from '../text-file.ts'

/** The place of a scaffold, and its existing surroundings. */
export interface Place {
  readonly project: Project
  /** The folder of its files, relative to the root of the project, with `/`; `.` is the root. */
  readonly folder: string
  /** The module from which a test imports `test`. */
  readonly testModule: string
  /** The module with the server, which may not exist yet. */
  readonly server: string
  /** The module with the variables of the environment, which may not exist yet. */
  readonly env: string
}

/**
 * The place for the files of one kind: `src/<folder>`, or `<folder>` in a project that has its server next to the
 * `package.json`, or the value of `--dir`.
 *
 * @throws CommandFailure outside a project, and for a folder outside the project.
 */
export function placeFor(folder: string, dir: string | undefined): Place {
  const project = findProject()
  const entry = entryFiles.find((file) => existsSync(join(project.root, file)))
  const isFlat = !existsSync(join(project.root, 'src')) && entry !== undefined
  // In a workspace, its top has the test runner of all members.
  const top = safely(() => findProject(lockFolder(project.root)), project)
  const server = entry ?? 'src/server.ts'
  return {
    project,
    folder: dir === undefined ? posix.join(isFlat ? '.' : 'src', folder) : folderIn(project.root, dir),
    testModule: testModule(project.dependencies.has('vitest') ? project : top),
    server,
    env: posix.join(posix.dirname(server), 'env.ts'),
  }
}

function folderIn(root: string, dir: string): string {
  const refuse = (why: string) => wrongUsage(`--dir ${JSON.stringify(dir)} ${why}`)
  if (dir.trim() === '' || /\p{Cc}/u.test(dir)) throw refuse('needs a folder')
  const folder = resolve(typedPath(dir))
  if (!isInside(root, folder)) throw refuse(`is outside ${root}`)
  const inside = relative(root, folder).split(sep).join('/')
  if (inside.split('/').includes('node_modules')) throw refuse('is among the installed packages')
  if (statSync(folder, { throwIfNoEntry: false })?.isFile() === true) throw refuse('is a file')
  return inside === '' ? '.' : inside
}

/** A file in the folder, or a glob, relative to the root. */
export const inFolder = ({ folder }: Pick<Place, 'folder'>, file: string): string => posix.join(folder, file)

/** All modules of the folder, as a glob. */
export const globOf = (place: Pick<Place, 'folder'>): string => inFolder(place, '**/*.{ts,js}')

/** How the server's module imports a file of the project: `./crons/cleanup.ts`. */
export const importPath = ({ server }: Pick<Place, 'server'>, file: string): string => pathBetween(server, file)

/** How a file of the project imports the module with the variables of the environment. */
export const envModule = ({ env }: Pick<Place, 'env'>, file: string): string => pathBetween(file, env)

/** How a file of the project imports another one. */
export function pathBetween(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}

/** Notes about testing a class with decorators in this project. */
export function decoratorNotes({ project, testModule }: Pick<Place, 'project' | 'testModule'>): string[] {
  const config = join(project.root, 'tsconfig.json')
  const isSet = /"experimentalDecorators"\s*:\s*true/.test(textOf(config) ?? '')
  return testModule === 'vitest' && !isSet
    ? ['Vitest compiles decorators only with "experimentalDecorators": true in the tsconfig.json.']
    : []
}
