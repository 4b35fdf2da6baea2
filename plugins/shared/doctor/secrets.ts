import { git } from '../environment/git.ts'
import { enough } from '../environment/secrets.ts'
import type { DoctorCheck, DoctorFinding } from './check.ts'

/** The checks of the secrets of a plugin, which its option `secret` has. */
export function secretChecks<Settings>(
  plugin: string,
  of: (settings: Settings) => readonly string[],
): DoctorCheck<Settings>[] {
  const option = `${plugin}.secret`
  return [
    { code: `${option}-short`, level: 'warning', find: ({ settings }) => shortSecret(option, of(settings)) },
    {
      code: `${option}-in-repository`,
      level: 'error',
      production: true,
      find: ({ settings }) => trackedSecret(option, of(settings)),
    },
  ]
}

/** The finding for secrets that production will refuse; in production itself, the boot has already failed. */
function shortSecret(option: string, secrets: readonly string[]): DoctorFinding | undefined {
  if (secrets.every((secret) => secret.length >= enough)) return undefined
  return {
    problem: `${option} has fewer than ${enough} characters, so it can be guessed; production refuses it`,
    remedy: `Make one: node -p "crypto.randomBytes(32).toString('base64url')"`,
  }
}

/** Environment files with examples, and the one for tests, which everyone who clones the project needs. */
export const envForEveryone = /^\.env\.(example|sample|template|dist|defaults?|test)$/i

const shownFiles = 5

/** The finding for secrets in a file that git tracks: anyone who can read the repository can sign. */
function trackedSecret(option: string, secrets: readonly string[]): DoctorFinding | undefined {
  // An empty list would match every file.
  const lines = secrets.filter((secret) => !/[\r\n]/.test(secret))
  if (lines.length === 0) return undefined
  // Through standard input, because everyone on the machine can read the arguments of a process. In the whole repository: the compose file
  // of a workspace is at its top.
  const { lines: found } = git(['grep', '-I', '-z', '-l', '-F', '-f', '-', '--', ':/'], {
    input: `${lines.join('\n')}\n`,
  })
  // An environment file that is tracked is reported itself.
  const isAtFault = (file: string) => /^\.env(\.[^/]*)?$/.test(file) && !envForEveryone.test(file)
  const files = found.filter((file) => !isAtFault(file))
  if (files.length === 0) return undefined
  // A secret that is a common word is in many files.
  const more = files.length > shownFiles ? ` and ${files.length - shownFiles} more` : ''
  return {
    problem: `${option} is in the repository: ${files.slice(0, shownFiles).join(', ')}${more}`,
    remedy: 'Replace it, and read the new one from the environment: the history keeps the old one',
  }
}
