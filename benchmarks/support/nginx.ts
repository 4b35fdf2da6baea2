import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Its configuration, with `PORT` for the port. */
export const nginxTemplate = 'servers/nginx.conf'

export const hasNginx = spawnSync('nginx', ['-v'], { stdio: 'ignore' }).status === 0

/** A command for one process in the foreground, whose CPU time is that of the server. */
export function nginxCommand(stage: string, port: number): string[] {
  const file = join(stage, `nginx-${port}.conf`)
  const template = readFileSync(join(stage, nginxTemplate), 'utf8')
  writeFileSync(file, template.replaceAll('PORT', String(port)))
  return ['nginx', '-p', stage, '-e', 'stderr', '-c', file]
}
