import { keyFiles } from '../keys/files.ts'
import { makeKeys } from '../keys/make.ts'
import { keyFlags, readKeyOptions } from '../keys/options.ts'
import { ownCommand } from '../run/own-command.ts'
import { writeFiles } from '../scaffold/files.ts'

export const keyGenerate = ownCommand({
  flags: keyFlags,
  details:
    'Writes a key pair to keys/app-private.pem and keys/app-public.pem, or a secret (256 random bits, for cookies and sessions) to\n' +
    'keys/app-secret. Only the owner can read private files (0600); they are listed in .gitignore and never printed. With --env, writes\n' +
    'APP_PRIVATE_KEY and APP_PUBLIC_KEY, or APP_SECRET, to .env, and declares them in the src/env.ts, .env.example and .env.test of\n' +
    'the project, with other values for tests.',
  async run({ flags, print, note }) {
    const options = readKeyOptions(flags, process.env)
    const made = await makeKeys(options.type, options)
    const { root, files, notes, after } = await keyFiles(options, made, flags.force)
    writeFiles(root, files, { flags, print }, { type: options.type, folder: root })
    if (root !== process.cwd()) note(`In ${root}`)
    for (const line of [...notes, ...(flags['dry-run'] ? [] : after())]) note(line)
  },
})
