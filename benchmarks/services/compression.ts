import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Built } from '../micro/built.ts'
import type { MicroCase } from '../micro/harness.ts'
import { asking, serverOf } from './asked.ts'
import { pair } from './pair.ts'

const rows = (count: number) =>
  JSON.stringify(
    Array.from({ length: count }, (_, i) => ({ id: i, title: `Analytical engine, part ${i}`, price: 5.5 + (i % 90) })),
  )
const texts = { '2 KB': rows(32), '64 KB': rows(1040) }

const zip = promisify<string, Buffer>(gzip)
const brotli = promisify(brotliCompress)
const coders = {
  gzip: (text: string) => zip(text),
  br: (text: string) =>
    brotli(text, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: text.length },
    }),
}

/** Compresses a text for each request, at the plugin's levels. */
export async function compressionCases(built: Built): Promise<MicroCase[]> {
  const cases: MicroCase[] = []
  for (const [encoding, compress] of Object.entries(coders)) {
    for (const [size, text] of Object.entries(texts)) {
      const [hand, own] = await Promise.all([serverOf(built), serverOf(built, { compression: {} })])
      hand.get('/', async (req, res) => {
        res.type('json').vary('Accept-Encoding')
        if (!req.headers['accept-encoding']?.includes(encoding)) return res.text(text)
        return res.setHeader('content-encoding', encoding).bytes(await compress(text))
      })
      own.get('/', (_req, res) => res.type('json').text(text))
      const ask = (server: typeof own) =>
        asking(
          server,
          () => ({ url: '/', headers: { 'accept-encoding': encoding } }),
          ({ headers }) => headers['content-encoding'] === encoding,
        )
      cases.push(...pair(`${encoding}, ${size}`, 1, { 'by hand': ask(hand), framework: ask(own) }))
    }
  }
  return cases
}
