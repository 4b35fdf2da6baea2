import { type Response, Server } from 'framework'
import { type StaticOptions, static as staticFiles } from 'framework/plugins/static'
import type { Equal, Expect } from './expect.ts'

new Server({ plugins: { static: { root: 'public' } } })
new Server({ plugins: { static: [{ root: 'public' }, { root: new URL('file:///assets'), prefix: '/assets' }] } })
new Server({
  plugins: {
    static: {
      root: 'public',
      prefix: '/files',
      dotfiles: 'deny',
      index: ['index.html', 'index.htm'],
      extensions: ['html'],
      redirect: false,
      maxAge: '7d',
      immutable: true,
      followSymlinks: true,
      precompressed: true,
    },
  },
})
staticFiles({
  root: 'public',
  setHeaders: (res, path) => {
    type _res = Expect<Equal<typeof res, Response>>
    type _path = Expect<Equal<typeof path, string>>
    res.header('x-file', path)
  },
})
new Server([staticFiles({ root: 'public', index: false, maxAge: 60 }), staticFiles([{ root: 'a' }, { root: 'b' }])])
const options: StaticOptions = { root: '.' }
staticFiles(options)

// @ts-expect-error a root is needed
staticFiles({ prefix: '/assets' })
// @ts-expect-error options are needed
staticFiles()
// @ts-expect-error no such way
staticFiles({ root: '.', dotfiles: 'hide' })
// @ts-expect-error no such option
new Server({ plugins: { static: { root: '.', maxage: 1 } } })
// @ts-expect-error in the list neither
new Server({ plugins: { static: [{ root: '.', dir: 1 }] } })
