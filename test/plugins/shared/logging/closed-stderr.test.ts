import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { pause } from '../../../support/kernel.ts'
import { withTypeScript } from '../../../support/typescript-process.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const script = `
  import { Kernel, kernelOptions, RouteCollection } from 'framework/kernel'
  const kernel = new Kernel(kernelOptions.parse({ port: 0, host: '127.0.0.1', router: new RouteCollection() }))
  kernel.get('/', () => {
    throw new Error('boom')
  })
  const { port } = await kernel.listen()
  console.log('port ' + port)
`

test('a standard error that is closed does not end a server that logs to it', async () => {
  const args = [...withTypeScript, '--input-type=module', '-e', script]
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  try {
    let stdout = ''
    child.stdout.on('data', (chunk) => {
      stdout += String(chunk)
    })
    await expect.poll(() => stdout).toMatch(/port \d+/)
    child.stderr.destroy()
    for (let i = 0; i < 5; i++) {
      expect((await fetch(`http://127.0.0.1:${/port (\d+)/.exec(stdout)![1]}`)).status).toBe(500)
      await pause(10)
    }
    child.kill('SIGTERM')
    expect((await once(child, 'exit'))[0]).toBe(0)
  } finally {
    child.kill('SIGKILL')
  }
})
