package store_test

func init() {
	allTenants["setTenantPoliciesSQL"] = "the tenant's own key"
	allTenants["setSetupSQL"] = "the tenant's own key"
}
