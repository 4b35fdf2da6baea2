import { router, Server } from 'framework'
import { type CompressionOptions, compression, type Encoding } from 'framework/plugins/compression'
import type { Equal, Expect } from './expect.ts'

new Server({ plugins: { compression: true } })
new Server({ plugins: { compression: { threshold: '2kb', encodings: ['br', 'gzip'] } } })
type _encoding = Expect<Equal<Encoding, 'br' | 'zstd' | 'gzip' | 'deflate'>>
const options: CompressionOptions = { threshold: 0, encodings: ['gzip'] as const }
compression(options)
router.get('/secret', { compress: false }, () => 1)
// @ts-expect-error on is the default
router.get('/same', { compress: true }, () => 1)
// @ts-expect-error no such encoding
compression({ encodings: ['brotli'] })
// @ts-expect-error no such option
new Server({ plugins: { compression: { level: 9 } } })
