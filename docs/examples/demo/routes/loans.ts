import { router } from 'framework'
import { member } from '../middlewares/member.ts'
import { policies } from '../policies.ts'
import { Loan, NewLoan } from '../schemas.ts'

const own = { policy: { handler: 'own', manager: policies, scope: 'loans' }, middlewares: [member] } as const

router.group('/loans', (loans) => {
  loans.get('/', { ...own, responses: { 200: { type: 'array', items: Loan } } }, (req, res) => {
    res.ok(req.library.loansOf(req.member.id))
  })

  loans.post('/', { ...own, body: NewLoan, responses: { 201: Loan } }, (req, res) => {
    res.created(req.library.lend(req.body.book, req.member.id))
  })

  loans.delete('/:id', own, (req, res) => {
    req.library.takeBack(req.params.id, req.member.id)
    res.noContent()
  })
})
