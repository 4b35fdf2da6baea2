import { isUtf8 } from 'node:buffer'
import { BadRequestError, definePlugin, parseQuery } from '../../kernel/index.ts'
import { isForm } from './media-type.ts'
import { limitOf, type UrlencodedOptions } from './options.ts'

/**
 * Parses form bodies (`application/x-www-form-urlencoded`) into `req.body`: up to 1 MB and 1000 fields.
 *
 * Repeated names become arrays; brackets in names mean nothing. Answers 413 `PayloadTooLargeError` over the limit, 400
 * `BadRequestError` for more fields or bytes that are no UTF-8.
 *
 * @example
 * new Server({ plugins: { urlencoded: { sizeLimit: '200kb' } } })
 */
export const urlencoded = definePlugin({
  name: 'urlencoded',
  setup(ctx, options: UrlencodedOptions = {}) {
    const limit = limitOf(options)
    ctx.use(function urlencoded(req, _res, next) {
      const { raw } = req
      if (!raw.hasBody || !isForm(raw.header('content-type'))) return next()
      return raw.bytes(limit).then((bytes) => {
        if (!isUtf8(bytes)) throw BadRequestError('the form is not UTF-8')
        req.body = parseQuery(
          Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'),
          'the form',
        )
        next()
      })
    })
  },
})
