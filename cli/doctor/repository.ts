import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'dotenv'
import type { DoctorFinding } from '../../plugins/toolkit/doctor/check.ts'
import { envForEveryone } from '../../plugins/toolkit/doctor/secrets.ts'
import { readRegularFileSync } from '../../plugins/toolkit/read-file.ts'
import type { ProjectCheck } from './view.ts'

/** The lines that git prints, none where it is not installed or there is no repository. */
function git(folder: string, ...args: string[]): string[] {
  const { status, stdout } = spawnSync('git', args, { cwd: folder, encoding: 'utf8' })
  return status === 0 ? stdout.split('\0').filter((line) => line !== '') : []
}

const textOf = (folder: string, file: string) => {
  try {
    return readRegularFileSync(join(folder, file)).toString('utf8')
  } catch {
    // Deleted, and still known to git.
    return ''
  }
}

const secretName = /SECRET|PASSWORD|PASSWD|PASSPHRASE|TOKEN|CREDENTIAL|PRIVATE|(^|_)(API)?_?KEY$/i
const withPassword = /^[a-z][\w+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/i

const secretsIn = (text: string) =>
  Object.entries(parse(text))
    .filter(([name, value]) => value.trim() !== '' && (secretName.test(name) || withPassword.test(value)))
    .map(([name]) => name)

const remedy = (file: string) =>
  `git rm --cached ${file}, add it to .gitignore, and replace its secrets: the history keeps them`

export const repositoryChecks: readonly ProjectCheck[] = [
  {
    code: 'git.env-file',
    level: 'error',
    find: ({ folder }) =>
      git(folder, 'ls-files', '-z', '--', '.env', '.env.*')
        .filter((file) => !file.includes('/') && !envForEveryone.test(file))
        .map((file): DoctorFinding => {
          const secrets = secretsIn(textOf(folder, file))
          if (secrets.length > 0)
            return { problem: `${file} is in the repository, with ${secrets.join(', ')}`, remedy: remedy(file) }
          return {
            problem: `${file} is in the repository, where the first secret that is written into it will be, too`,
            remedy: `git rm --cached ${file}, and add it to .gitignore; keep an .env.example there instead`,
            level: 'warning',
          }
        }),
  },
  {
    code: 'git.env-not-ignored',
    level: 'warning',
    find({ folder }) {
      const files = git(folder, 'ls-files', '-z', '--others', '--exclude-standard', '--', '.env', '.env.*')
      return files
        .filter((file) => !file.includes('/') && !envForEveryone.test(file) && existsSync(join(folder, file)))
        .map((file) => ({
          problem: `git does not ignore ${file}, so that the next "git add ." publishes it`,
          remedy: `Add the line ${file} to .gitignore`,
        }))
    },
  },
  {
    code: 'git.private-key',
    level: 'error',
    find: ({ folder }) =>
      git(folder, 'ls-files', '-z', '--', '*.pem', '*.key', '*.p8')
        .filter((file) => !/(^|\/)(tests?|__tests__|fixtures?|examples?)\//i.test(file))
        .filter((file) => /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(textOf(folder, file)))
        .map((file) => ({ problem: `the private key ${file} is in the repository`, remedy: remedy(file) })),
  },
]
