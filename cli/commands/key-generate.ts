import { keyFiles } from '../keys/files.ts'
import { makeKeys } from '../keys/make.ts'
import { keyFlags, readKeyOptions } from '../keys/options.ts'
import { ownCommand } from '../run/own-command.ts'
import { writeFiles } from '../scaffold/files.ts'

export const keyGenerate = ownCommand({
  flags: keyFlags,
  details:
    'A pair is written as keys/app-private.pem and keys/app-public.pem, or as APP_PRIVATE_KEY and APP_PUBLIC_KEY; a secret,\n' +
    '256 random bits for cookies and sessions, as keys/app-secret or APP_SECRET. Private files are readable only by their owner\n' +
    '(0600), listed in .gitignore, and never printed. With --env the files src/env.ts, .env.example\n' +
    'and .env.test of the project also get the variables, with other values for tests.',
  async run({ flags, print, note }) {
    const options = readKeyOptions(flags, process.env)
    const made = await makeKeys(options.type, options)
    const { root, files, notes, after } = await keyFiles(options, made, flags.force)
    writeFiles(root, files, { flags, print }, { type: options.type, folder: root })
    if (root !== process.cwd()) note(`In ${root}`)
    for (const line of [...notes, ...(flags['dry-run'] ? [] : after())]) note(line)
  },
})
