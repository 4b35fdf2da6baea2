import { defineError } from 'framework/kernel'
import { expect, test } from 'vitest'

type Loose = (...args: unknown[]) => unknown

test.each<[unknown[], string]>([
  [['PortError', 500, 'the port is taken'], 'defineError(PortError): the message is made by a function'],
  [['PortError', 500], 'the message is made by a function'],
  [['PortError'], 'the status is a whole number from 400 to 599'],
  [['PortError', undefined, () => 'x'], 'the status is a whole number from 400 to 599'],
  [['PortError', '500', () => 'x'], 'the status is a whole number from 400 to 599'],
  [['PortError', 200, () => 'x'], 'the status is a whole number from 400 to 599'],
  [['', 500, () => 'x'], 'the code is a name'],
  [[undefined, 500, () => 'x'], 'the code is a name'],
  [['audit full', 500, () => 'x'], 'the code is a name'],
])('an error that is defined as %j fails where it is defined', (args, message) => {
  expect(() => (defineError as Loose)(...args)).toThrow(message)
})

test('an error that is defined without a status is a mistake in the application, which clients do not read', () => {
  const PortError = defineError('PortError', (port: number) => `the port ${port} is taken`)
  expect(PortError.status).toBe(500)
  expect(PortError(3000)).toMatchObject({ code: 'PortError', status: 500, message: 'the port 3000 is taken' })
  const Gone = defineError('GoneError', 410, () => 'it is gone')
  expect(Gone().message).toBe('GONE: it is gone')
})
