import { copyFileSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root, runIn } from './cli.ts'

/** Copies the files of this checkout to a folder, as a clone has them after `npm ci`: nothing else is built or installed. */
export async function copyCheckout(folder: string): Promise<void> {
  const { stdout } = await runIn(root, ['git', 'ls-files', '--cached', '--others', '--exclude-standard', '-z'])
  // One that is deleted and not committed yet is listed, too.
  const files = stdout.split('\0').filter((file) => file !== '' && existsSync(join(root, file)))
  for (const place of new Set(files.map((file) => dirname(file)))) mkdirSync(join(folder, place), { recursive: true })
  for (const file of files) copyFileSync(join(root, file), join(folder, file))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  await runIn(folder, ['git', 'init', '--quiet'])
}
