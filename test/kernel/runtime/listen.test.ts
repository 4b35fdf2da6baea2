import { afterEach, describe, expect, test } from 'vitest'
import { defaultLimits } from '../../../kernel/runtime/adapter.ts'
import { listenError } from '../../../kernel/runtime/listen-errors.ts'
import { NodeAdapter } from '../../../kernel/runtime/node/node.ts'
import { FormattedFailures } from '../../../plugins/shared/failures/formatted-failures.ts'

const failures = new FormattedFailures()

const adapters: NodeAdapter[] = []

function listen(port: number, host: string) {
  const adapter = new NodeAdapter()
  adapters.push(adapter)
  return adapter.listen({ port, host, failures, upgrades: [], limits: defaultLimits, onWarning: () => {} }, () => {})
}

afterEach(async () => {
  await Promise.all(adapters.splice(0).map((adapter) => adapter.stop()))
})

describe('listen', () => {
  test('HT-04 gives a head 10 s and a request 30 s by default', () => {
    expect(defaultLimits).toEqual({
      headersTimeout: 10_000,
      receiveTimeout: 30_000,
      keepAliveTimeout: 5_000,
      maxHeaderSize: 16_384,
      maxHeaderCount: 1_000,
    })
  })

  test('GS-04 reports the actual port for port 0', async () => {
    const { port, host } = await listen(0, '127.0.0.1')
    expect(port).toBeGreaterThan(0)
    expect(host).toBe('127.0.0.1')
  })

  test('leaves no timer when it has closed, which would keep a process from ending', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length
    const before = timers()
    await listen(0, '127.0.0.1')
    await adapters.pop()!.stop()
    // Those of earlier tests may run out meanwhile.
    expect(timers()).toBeLessThanOrEqual(before)
  })

  test('GS-04 names the port that is taken and the remedy', async () => {
    const { port } = await listen(0, '127.0.0.1')
    await expect(listen(port, '127.0.0.1')).rejects.toMatchObject({
      code: 'PortInUseError',
      message: expect.stringMatching(new RegExp(`^127\\.0\\.0\\.1:${port} .*choose another port`)),
      cause: { code: 'EADDRINUSE' },
    })
  })

  test('GS-04 names a host that is not of this machine', async () => {
    await expect(listen(0, '192.0.2.1')).rejects.toMatchObject({ code: 'HostUnavailableError' })
  })

  test.each([
    [{ code: 'EACCES' }, 'PortForbiddenError'],
    [{ name: 'PermissionDenied' }, 'PortForbiddenError'],
    [{ name: 'AddrInUse' }, 'PortInUseError'],
    [{ name: 'AddrNotAvailable' }, 'HostUnavailableError'],
    [{ code: 'EWHATEVER', message: 'odd' }, 'ListenError'],
  ])('reads what a runtime throws: %o', (thrown, code) => {
    const error = listenError(thrown, '0.0.0.0', 80)
    expect(error.code).toBe(code)
    expect(error.message).toContain('0.0.0.0:80')
    expect(error.cause).toBe(thrown)
  })
})
