import { scryptSync } from 'node:crypto'
import { passwords } from 'framework/plugins/auth'
import { describe, expect, test } from 'vitest'

// 2^4 rounds: these are about the form, and quick.
const quick = '$scrypt$ln=4,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$'

describe('a password', () => {
  test('has another hash each time, is the only one that has it, and may be typed in either form of Unicode', async () => {
    const [one, two] = await Promise.all([passwords.hash('Pa\u0308sswort'), passwords.hash('P\u00e4sswort')])
    expect(one).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
    expect(one).not.toBe(two)
    expect(await passwords.verify('P\u00e4sswort', one)).toBe(true)
    expect(await passwords.verify('Pa\u0308sswort', two)).toBe(true)
    expect(await passwords.verify('Passwort', one)).toBe(false)
    expect(passwords.needsRehash(one)).toBe(false)
  })

  test('of an unknown account takes as long, and is wrong', async () => {
    const start = performance.now()
    expect(await passwords.verify('', undefined)).toBe(false)
    expect(await passwords.verify('correct horse', null)).toBe(false)
    expect(performance.now() - start).toBeGreaterThan(50)
  })

  test('that is too long is not hashed, and is wrong', async () => {
    await expect(passwords.hash('a'.repeat(1025))).rejects.toMatchObject({ status: 422 })
    const key = scryptSync('', 'saltsaltsaltsalt', 32, { N: 16, r: 8, p: 1 })
    const hash = `${quick}${key.toString('base64').replace('=', '')}`
    expect(await passwords.verify('', hash)).toBe(true)
    expect(await passwords.verify('a'.repeat(1_000_000), hash)).toBe(false)
  })
})

test('the vector of RFC 7914 section 12 is accepted, and due for another hash', async () => {
  // scrypt("pleaseletmein", "SodiumChloride", N=16384, r=8, p=1, 64)
  const salt = Buffer.from('SodiumChloride').toString('base64').replace(/=+$/, '')
  const key =
    '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887'
  const hash = `$scrypt$ln=14,r=8,p=1$${salt}$${Buffer.from(key, 'hex').toString('base64').replace(/=+$/, '')}`
  expect(await passwords.verify('pleaseletmein', hash)).toBe(true)
  expect(await passwords.verify('pleaseletmeout', hash)).toBe(false)
  expect(passwords.needsRehash(hash)).toBe(true)
})

test.each([
  '',
  'secret',
  '$2b$10$abcdefghijklmnopqrstuv',
  `${quick}AAAA`,
  quick,
  '$scrypt$ln=31,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  '$scrypt$ln=20,r=99,p=99$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  '$scrypt$ln=0,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
])('the stored string %j is an error that does not show it', async (hash) => {
  const error = await passwords.verify('a', hash).catch((one: Error) => one)
  expect(error).toMatchObject({ code: 'PasswordHashError', status: 500 })
  if (hash !== '') expect(String(error)).not.toContain(hash)
})

test('a flood of log-ins is refused before it takes the process', async () => {
  const hash = `${quick}${'A'.repeat(43)}`
  const settled = await Promise.allSettled(Array.from({ length: 100 }, () => passwords.verify('guess', hash)))
  const refused = settled.filter((one) => one.status === 'rejected')
  expect(refused).toHaveLength(34)
  expect((refused[0] as PromiseRejectedResult).reason).toMatchObject({ code: 'PasswordsBusyError', status: 503 })
  expect(await passwords.verify('guess', hash)).toBe(false)
})
