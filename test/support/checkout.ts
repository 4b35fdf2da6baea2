import { copyFileSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root, runIn } from './cli.ts'

/** Copies the files of this checkout to a folder, as a clone has them after `npm ci`: nothing else is built or installed. */
export async function copyCheckout(folder: string): Promise<void> {
  const { stdout } = await runIn(root, ['git', 'ls-files', '--cached', '--others', '--exclude-standard', '-z'])
  for (const file of stdout.split('\0').filter((one) => one !== '')) {
    // One that is deleted and not committed yet is listed, too.
    if (!existsSync(join(root, file))) continue
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    copyFileSync(join(root, file), join(folder, file))
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  await runIn(folder, ['git', 'init', '--quiet'])
}
