import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt)
// What OWASP recommends for scrypt. Each hash takes 128 MB, and some 300 ms on one of libuv's four threads.
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 2 ** 20 }

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password.normalize('NFKC'), salt, 32, cost)
  return `${salt.toString('base64url')}.${key.toString('base64url')}`
}

export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const [salt = '', key = ''] = hash.split('.')
  const right = Buffer.from(key, 'base64url')
  const given = await derive(password.normalize('NFKC'), Buffer.from(salt, 'base64url'), 32, cost)
  return right.length === given.length && timingSafeEqual(right, given)
}
