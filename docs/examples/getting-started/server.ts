import { router, Server } from 'framework'
import { env } from './env.ts'
import './films.ts'

router.get('/greeting', () => ({ greeting: env.get('GREETING') }))

export const server = new Server({ port: env.get('PORT') })
