import { Server } from 'framework'
import { cors, session } from 'framework/plugins'

new Server({
  port: 3000,
  hots: '127.0.0.1',
  //! 'hots' does not exist in type 'ServerOptions'
})

new Server({
  port: '3000',
  //! Type 'string' is not assignable to type 'number'
})

new Server({
  plugins: {
    cors: true,
    json: { sizeLimt: '1mb' },
    //! 'sizeLimt' does not exist in type
  },
})

new Server({
  plugins: {
    helmet: {
      hsts: { maxAgee: 1 },
      //! Did you mean to write 'maxAge'?
    },
    cors: { origin: 5 },
    //! Type 'number' is not assignable to type 'OriginOption<Request>
  },
})

new Server({
  plugins: {
    corz: {},
    //! "corz is not a plugin of the framework. One of your own: { corz: corz() }"
  },
})

new Server({
  plugins: [
    cors({ origin: '*' }),
    'helmet',
    //! Type 'string' is not assignable to type
  ],
})

new Server([
  cors({
    origin: '*',
    maxAgee: 5,
    //! Did you mean to write 'maxAge'?
  }),
])

new Server({
  background: {
    queues: { runn: true },
    //! Did you mean to write 'run'?
    mqtt: {
      connect: { hostt: 'localhost' },
      //! Did you mean to write 'host'?
    },
  },
})

new Server({
  plugins: cors({ origin: '*' }),
  //! "pass one plugin in an array: plugins: [myPlugin()]"
})

new Server({
  plugins: {
    mailer: {
      providers: { main: { transporter: 'smtp://localhost', from: 'shop@example.com' } },
      defaultProvider: 'mian',
      //! Type '"mian"' is not assignable to type '"main"'
    },
  },
})

const corsOptions = { originn: '*' }
new Server({
  plugins: {
    cors: corsOptions,
    //! has no properties in common with type
  },
})

new Server({
  plugins: {
    cors: ['*'],
    //! has no properties in common with type
  },
})

new Server({
  plugins: true,
  //! Type 'boolean' is not assignable to type 'PluginsOption'
})

new Server({
  plugins: [
    session,
    //! is not assignable to type
  ],
})
