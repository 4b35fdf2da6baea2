import type { Redis } from 'ioredis'

/** Makes a client as its documentation shows. */
export async function redisByHand(url: string): Promise<Redis> {
  const { Redis } = await import('ioredis')
  return new Redis(url)
}
