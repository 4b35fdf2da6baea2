import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { builtOf } from '../build/layout.ts'
import { CommandFailure } from '../failure.ts'
import { programName } from '../package.ts'
import type { Runtime } from '../project/project.ts'
import { findStartFile, projectSettings } from '../project/start-file.ts'

/** The file to run in production; on Node.js, that of the build. */
export function productionFile(folder: string, runtime: Runtime, entry: string | undefined): string {
  if (runtime !== 'node' || entry !== undefined) return findStartFile(folder, entry)
  const built = builtOf(folder, projectSettings(folder).start ?? 'src/index.ts')
  if (existsSync(join(folder, built))) return built
  const file = findStartFile(folder)
  if (/\.m?js$/.test(file)) return file
  throw new CommandFailure(
    `${file} is not built: "${programName} build" creates ${built}, which runs in production; --entry <file> chooses another module`,
  )
}
