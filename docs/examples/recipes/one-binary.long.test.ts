import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { runtimeBinary } from '../../../test/runtimes/run.mjs'
import { startProgram } from '../../../test/support/docs/program.ts'

const bun = runtimeBinary('bun')
const root = join(import.meta.dirname, '../../..')

test.skipIf(bun === undefined || !existsSync(join(root, 'dist/index.js')))(
  'one file answers, and ends on SIGTERM',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'framework-binary-'))
    try {
      const file = join(folder, 'shop')
      // As in a project, which has the package built: the sources read their pages from files.
      const source = join(folder, 'one-binary.ts')
      copyFileSync(join(import.meta.dirname, 'one-binary.ts'), source)
      mkdirSync(join(folder, 'node_modules'))
      symlinkSync(root, join(folder, 'node_modules/framework'), 'junction')
      const flags = ['--compile', '--minify', '--sourcemap', '--bytecode', '--format=esm']
      await promisify(execFile)(bun!, ['build', ...flags, source, '--outfile', file], { cwd: folder })
      const program = await startProgram([], {}, file, folder)
      expect(await (await fetch(program.url)).json()).toEqual({ hello: 'from one file' })
      expect(await program.end('SIGTERM')).toEqual({ code: 0, signal: null })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)
