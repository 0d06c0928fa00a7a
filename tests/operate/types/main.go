// Command types decodes objects of monitoring and of the Gateway API strictly, by the types of the
// projects that define them. It reads a JSON array from standard input, prints what does not fit, and
// ends with 1 then.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
)

// object has what says which type an object has.
type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

var types = map[string]func() any{
	"monitoring.coreos.com/v1 PodMonitor":     func() any { return new(monitoring.PodMonitor) },
	"monitoring.coreos.com/v1 PrometheusRule": func() any { return new(monitoring.PrometheusRule) },
	"gateway.networking.k8s.io/v1 HTTPRoute":  func() any { return new(gateway.HTTPRoute) },
}

func check(raw json.RawMessage) error {
	var it object
	if err := json.Unmarshal(raw, &it); err != nil {
		return err
	}
	make, known := types[it.APIVersion+" "+it.Kind]
	if !known {
		return fmt.Errorf("%s %s: an unknown type", it.APIVersion, it.Kind)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(make()); err != nil {
		return fmt.Errorf("%s %s: %w", it.Kind, it.Metadata.Name, err)
	}
	return nil
}

func main() {
	var objects []json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&objects); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	code := 0
	for _, raw := range objects {
		if err := check(raw); err != nil {
			fmt.Println(err)
			code = 1
		}
	}
	os.Exit(code)
}
