import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { git } from '../../plugins/shared/environment/git.ts'
import type { PackageManager } from '../../plugins/shared/environment/optional-package.ts'
import { CommandFailure } from '../failure.ts'

/** npx has just fetched half of the packages: without requesting each again, the installation takes two thirds of the time. */
const npmInstall = ['--prefer-offline', '--no-audit', '--no-fund']

/** The command that installs the packages of `package.json`. */
export const installAll = (manager: PackageManager): string => `${manager} install`

/**
 * Installs the packages of a project; the output of the package manager goes to standard error.
 *
 * @throws (as a rejection) CommandFailure with the command for another attempt; the files of the project stay.
 */
export async function install(folder: string, manager: PackageManager): Promise<void> {
  // The variables of npx would make npm install into the project where npx was called.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(package_|lifecycle_|config_local_prefix$)|^INIT_CWD$/.test(name),
    ),
  )
  // On Windows these are .cmd files, which need a shell; no part of the command is user input.
  const shell = process.platform === 'win32'
  const child = spawn(manager, ['install', ...(manager === 'npm' ? npmInstall : [])], {
    cwd: folder,
    env,
    shell,
    stdio: ['ignore', 2, 2],
  })
  const again = `the project is complete; install its packages with "${installAll(manager)}"`
  const [code, signal] = await (once(child, 'close') as Promise<[number | null, string | null]>).catch((error) => {
    throw new CommandFailure(`${manager} cannot be started (${(error as NodeJS.ErrnoException).code}): ${again}`, error)
  })
  if (code !== 0) throw new CommandFailure(`${manager} install ended with ${signal ?? `code ${code}`}: ${again}`)
}

/** Creates a repository; if that fails, returns the reason, since a project works without one. */
export const gitInit = (folder: string): string | undefined => git(['init', '--quiet'], { folder }).failure

/** Commits all files that git does not ignore; returns the reason if that fails, for example because git does not know the committer. */
export const firstCommit = (folder: string): string | undefined =>
  git(['add', '--all'], { folder }).failure ??
  git(['commit', '--quiet', '--message', 'First commit'], { folder }).failure
