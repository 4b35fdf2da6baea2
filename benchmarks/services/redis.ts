import type { Redis } from 'ioredis'

/** A client as in its documentation. */
export async function redisByHand(url: string): Promise<Redis> {
  const { Redis } = await import('ioredis')
  return new Redis(url)
}
